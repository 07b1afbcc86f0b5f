import { afterAll, describe, expect, test } from "bun:test"
import { Effect, Redacted } from "effect"
import { newWorkspace } from "../../../support/Accounts.ts"
import { suite } from "../../../support/Effect.ts"
import { apacheAt, freeOrigin, hasApache } from "./support/ApacheApplication.ts"
import { authorize, visit } from "./support/Browser.ts"
import { secret, TestIssuer } from "./support/IssuerFixture.ts"
import { servedIssuerOf } from "./support/ServedIssuer.ts"
import { someone } from "./support/Someone.ts"

const origin = await Effect.runPromise(freeOrigin)
const tests = suite(
  servedIssuerOf(() => ({
    clients: [
      {
        client_id: "apache",
        client_name: "Apache",
        client_secret: Redacted.make(secret),
        redirect_uris: [`${origin}/signed-in`],
        post_logout_redirect_uris: [`${origin}/bye`],
        scope: "openid profile email groups"
      }
    ]
  }))
)
afterAll(tests.dispose)

test("Apache is installed if SVC_TEST_REQUIRE_ALL is set", () => {
  if (process.env["SVC_TEST_REQUIRE_ALL"] === "1") expect(hasApache).toBe(true)
})

/** Creates a browser that keeps cookies and does not follow redirects automatically. */
const browsing = () => {
  const jar = new Map<string, string>()
  return (path: string) =>
    Effect.promise(async () => {
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ")
      const response = await fetch(path.startsWith("http") ? path : `${origin}${path}`, {
        redirect: "manual",
        headers: { cookie }
      })
      for (const line of response.headers.getSetCookie()) {
        const [pair = ""] = line.split(";")
        jar.set(pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1))
      }
      return response
    })
}

const locationOf = (response: Response) => response.headers.get("location") ?? ""

describe.skipIf(!hasApache)("Apache with mod_auth_openidc", () => {
  tests.live(
    "Apache signs a person in, uses the claims, authorises by groups, and signs out",
    () =>
      Effect.gen(function* () {
        const { issuer } = yield* TestIssuer
        yield* apacheAt(issuer, origin)
        const { cookie, subject } = yield* someone
        yield* newWorkspace(subject, { handle: "relying" })
        const open = browsing()
        const sent = new URL(locationOf(yield* open("/index.html")))
        expect([sent.origin, sent.pathname]).toEqual([issuer, "/oauth/authorize"])
        const { location = "" } = yield* authorize(sent.search.slice(1), cookie)
        const landed = yield* open(location)
        expect([landed.status, locationOf(landed)]).toEqual([302, `${origin}/index.html`])
        const page = yield* open("/index.html")
        expect(yield* Effect.promise(() => page.text())).toBe("the page index.html")
        const claim = (name: string) => page.headers.get(`x-${name}`)
        expect(claim("sub")).toBe(subject)
        expect(claim("email")).toStartWith(`${claim("preferred-username")}@`)
        expect([claim("groups"), claim("email-verified")]).toEqual(["relying:owner", "0"])
        expect((yield* open("/owners")).status).toBe(200)
        expect((yield* open("/strangers")).status).toBe(401)

        // The authorization response cannot be replayed: its code has been used, and it is bound to the first browser.
        expect((yield* browsing()(location)).status).not.toBe(302)

        const leaving = new URL(locationOf(yield* open(`/signed-in?logout=${encodeURIComponent(`${origin}/bye`)}`)))
        expect([leaving.origin, leaving.pathname]).toEqual([issuer, "/oauth/logout"])
        const left = yield* visit(`${leaving.pathname}${leaving.search}`, cookie)
        expect(locationOf(left)).toStartWith(`${origin}/bye`)
        expect((yield* open("/index.html")).status).toBe(302)
      }),
    60_000
  )
})
