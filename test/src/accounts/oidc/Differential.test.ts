import { afterAll, describe, expect, test } from "bun:test"
import { Effect, Layer } from "effect"
import { suite } from "../../../support/Effect.ts"
import { send } from "./support/Browser.ts"
import { callback, issuerLayer, TestIssuer } from "./support/IssuerFixture.ts"
import { type MalformedRequest, malformedRequests } from "./support/MalformedRequests.ts"
import { ReferenceIssuer } from "./support/ReferenceIssuer.ts"

const tests = suite(Layer.mergeAll(issuerLayer(), ReferenceIssuer.layer))
afterAll(tests.dispose)

const initOf = ({ body, headers, path }: MalformedRequest): RequestInit => ({
  redirect: "manual",
  method: body === undefined ? "GET" : "POST",
  headers: {
    accept: body === undefined && path !== "/oauth/userinfo" ? "text/html" : "application/json",
    ...headers
  },
  ...(body === undefined ? {} : { body })
})

const errorIn = (text: string): string | undefined => /"error":"([a-z_]+)"/.exec(text)?.[1]

/** Returns the parts of a response that must match the reference: the destination and the meaning, but not the wording. */
const shapeOf = Effect.fnUntraced(function* (response: Response, issuer: string) {
  const location = response.headers.get("location")
  if (location !== null) {
    if (!location.startsWith(callback) && !location.startsWith("http://127.0.0.1:5123/cb?")) return "asks the person"
    const { hash, searchParams } = new URL(location)
    // When the reference refuses an implicit request, it returns the error in the fragment.
    const parameters = hash === "" ? searchParams : new URLSearchParams(hash.slice(1))
    return `tells the client ${parameters.get("error")}, state ${parameters.has("state")}, iss ${parameters.get("iss") === issuer}`
  }
  const text = yield* Effect.promise(() => response.text())
  if (response.headers.get("content-type")?.startsWith("text/html") === true) {
    return response.status < 400 ? "a page" : `an error page ${response.status}`
  }
  const challenge = response.headers.get("www-authenticate")?.split(" ")[0] ?? "none"
  return `${response.status} ${errorIn(text) ?? "no error"}, ${response.headers.get("cache-control")?.includes("no-store") === true ? "not stored" : "stored"}, challenge ${challenge}`
})

const answers = Effect.fnUntraced(function* (request: MalformedRequest) {
  const reference = yield* ReferenceIssuer
  const { issuer } = yield* TestIssuer
  const theirs = yield* Effect.promise(() => fetch(`${reference.issuer}${request.path}`, initOf(request)))
  const ours = yield* send(request.path, initOf(request))
  return { ours: yield* shapeOf(ours, issuer), theirs: yield* shapeOf(theirs, reference.issuer) }
})

describe("Reference comparison", () => {
  test("the issuer is compared with the reference on at least forty malformed requests", () => {
    expect(malformedRequests.length).toBeGreaterThanOrEqual(40)
  })

  for (const request of malformedRequests) {
    tests.live(request.name, () =>
      Effect.gen(function* () {
        const { ours, theirs } = yield* answers(request)
        if (request.wanted === undefined) expect(ours).toBe(theirs)
        // If a listed difference no longer occurs, remove it from the table.
        else expect(ours).not.toBe(theirs)
      })
    )
  }
})
