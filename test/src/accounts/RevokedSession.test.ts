import { afterAll, expect, setDefaultTimeout } from "bun:test"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Sessions } from "../../../actors/access/account/Sessions.ts"
import { suite } from "../../support/Effect.ts"
import { servedWorld } from "../http/support/ServedWorld.ts"
import { send } from "../http/support/TestApplication.ts"
import { world } from "../http/support/World.ts"

setDefaultTimeout(60_000)

const { interruptedRequest, served } = servedWorld()
const tests = suite(served)
afterAll(tests.dispose)

/** Account changes that the test sends with a recently confirmed session. */
const changes: ReadonlyArray<readonly [method: string, path: string, body?: object]> = [
  ["POST", "/auth/profile", { displayName: "Mallory" }],
  ["POST", "/auth/password", { newPassword: "the password of somebody else" }],
  ["POST", "/auth/sessions/revoke-others"],
  ["POST", "/auth/sign-out-everywhere"],
  ["POST", `/auth/sessions/ses_${"x".repeat(24)}/revoke`],
  ["DELETE", `/auth/passkeys/pky_${"x".repeat(24)}`],
  ["DELETE", "/auth/second-factor"]
]

for (const [method, path, body] of changes) {
  tests.live(`${method} ${path} is refused if its session is revoked just before the transaction`, () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { secret, session } = yield* (yield* Sessions).open({ subject: world.ada, method: "password" })
      const asked = send(path, {
        method,
        headers: {
          cookie: `svc_session=${Redacted.value(secret)}`,
          "sec-fetch-site": "same-origin",
          ...(body === undefined ? {} : { "content-type": "application/json" })
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
      const revoked = Effect.orDie(sql`UPDATE account_sessions SET revoked_at = created_at WHERE id = ${session.id}`)
      const [response, happened] = yield* interruptedRequest(asked, revoked)
      const text = yield* Effect.promise(() => response.text())
      expect([happened, response.status, text]).toEqual([true, 401, expect.stringContaining("unauthenticated")])
    })
  )
}
