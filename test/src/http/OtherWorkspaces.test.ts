import { afterAll, expect, test } from "bun:test"
import { Effect, Option, Redacted, Schema } from "effect"
import { AccessTokens } from "../../../actors/access/account/AccessTokens.ts"
import { Sessions } from "../../../actors/access/account/Sessions.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { ErrorEnvelope } from "../../../schema/errors/ApiError.ts"
import { suite } from "../../support/Effect.ts"
import { exampleBody } from "./support/ApiExamples.ts"
import { type Route, routes } from "./support/RouteRequests.ts"
import { servedWorld } from "./support/ServedWorld.ts"
import { send } from "./support/TestApplication.ts"
import { twoOfEach } from "./support/TwoOfEach.ts"
import { world } from "./support/World.ts"

const tests = suite(servedWorld().served)
afterAll(tests.dispose)

const workspaceRoutes = routes.filter(({ rule }) => rule.kind === "workspace")
const idsOf = ({ path }: Route) => Array.from(path.matchAll(/:(\w+)/g), ([, name = ""]) => name)

/** Routes with ids: the first id identifies the record, and later ids identify parts of that record. */
const byRecord = workspaceRoutes.filter((route) => idsOf(route).length > 0)
const byPart = workspaceRoutes.filter((route) => idsOf(route).length > 1)

/** Parameters that do not identify a Workspace's record: they identify a kind of helper, or a person. */
const noRecords = new Set(["helperId", "subject"])

const ofA: Readonly<Record<string, string>> = {
  ...world,
  workspaceId: world.workspaceA,
  subject: world.viewer,
  intentId: `ifi_${"c".repeat(23)}1`,
  tokenId: `pat_${"c".repeat(24)}`
}

const unknown = (id: string) => id.replace(/[^_]+$/, "q".repeat(24))

const decodeError = Schema.decodeUnknownOption(ErrorEnvelope)

/** Returns all credentials of a caller, because some routes accept only one kind. */
const credentialsOf = Effect.fnUntraced(function* (subject: string) {
  const session = yield* (yield* Sessions).open({ subject, method: "password" })
  const token = yield* (yield* AccessTokens).create(serviceContext, subject, { name: "own", scopes: ["read", "write"] })
  return [
    { cookie: `svc_session=${Redacted.value(session.secret)}`, "sec-fetch-site": "same-origin" },
    { authorization: `Bearer ${Redacted.value(token.secret)}` }
  ]
})

const answer = Effect.fnUntraced(function* (
  { isFile, method, path }: Route,
  ids: Readonly<Record<string, string>>,
  credential: Readonly<Record<string, string>>
) {
  const body = isFile ? "a file" : JSON.stringify(exampleBody(method, path))
  const response = yield* send(
    path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? "helper"),
    {
      method,
      headers: {
        "content-type": isFile ? "application/octet-stream" : "application/json",
        "idempotency-key": "other-key-000000000000000",
        ...credential
      },
      ...(method === "GET" || body === undefined ? {} : { body })
    }
  )
  const text = yield* Effect.promise(() => response.text())
  const failed = Option.getOrUndefined(decodeError(text === "" ? {} : JSON.parse(text)))
  return `${response.status} ${failed?.error.code ?? ""}`
})

const prepared = Effect.gen(function* () {
  yield* twoOfEach(world.workspaceA, "c")
  yield* twoOfEach(world.workspaceB, "d")
  return yield* credentialsOf(world.bob)
})
const scene = Effect.runSync(Effect.cached(prepared))

test("the foreign-record checks find the routes of Workspaces", () => {
  expect([byRecord.length > 80, byPart.length > 8]).toEqual([true, true])
})

tests.live("every route returns 403 for another Workspace's record, and 404 for an unknown id", () =>
  Effect.gen(function* () {
    const credentials = yield* scene
    for (const route of byRecord) {
      const [first = ""] = idsOf(route)
      if (noRecords.has(first)) continue
      const missing = { ...ofA, [first]: unknown(ofA[first] ?? "") }
      for (const credential of credentials) {
        const name = `${route.method} ${route.path}`
        expect([name, yield* answer(route, ofA, credential)]).toEqual([name, "403 permission_denied"])
        expect([name, yield* answer(route, missing, credential)]).toEqual([name, "404 not_found"])
      }
    }
  })
)

tests.live(
  "svc treats a record of another Workspace as unknown if a path combines it with a record of the caller",
  () =>
    Effect.gen(function* () {
      const credentials = yield* scene
      const firstOfB: Readonly<Record<string, string>> = {
        workspaceId: world.workspaceB,
        sourceId: `src_${"d".repeat(23)}1`,
        capsuleId: `cap_${"d".repeat(23)}1`
      }
      const partsOfA: Readonly<Record<string, string>> = {
        ...ofA,
        invitationId: `inv_${"c".repeat(23)}1`,
        leftOverStateId: `lo_${"c".repeat(23)}1`,
        ruleId: `apr_${"c".repeat(23)}1`,
        sourceSnapshotId: `snap_${"c".repeat(23)}1`,
        subject: `usr_${"c".repeat(23)}1`,
        teamId: `team_${"c".repeat(23)}1`
      }
      for (const route of byPart) {
        const [first = "", ...parts] = idsOf(route)
        const foreign = { ...partsOfA, [first]: firstOfB[first] ?? "" }
        const missing = {
          ...foreign,
          ...Object.fromEntries(parts.map((part) => [part, unknown(foreign[part] ?? "helper")]))
        }
        for (const credential of credentials) {
          const name = `${route.method} ${route.path}`
          const given = yield* answer(route, foreign, credential)
          expect([name, given]).toEqual([name, yield* answer(route, missing, credential)])
          expect([name, given]).toEqual([name, expect.stringMatching(/^4/)])
        }
      }
    })
)
