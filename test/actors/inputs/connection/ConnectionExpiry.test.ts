import { afterAll, expect, setDefaultTimeout } from "bun:test"
import { DateTime, Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Connections } from "../../../../actors/inputs/connection/Connections.ts"
import { suite } from "../../../support/Effect.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { ConnectionCommands } from "../../../../schema/commands/ConnectionCommands.ts"

setDefaultTimeout(120_000)

const tests = suite(testPlane())
afterAll(tests.dispose)

tests.live("a Connection appears in the attention list shortly before it expires", () =>
  Effect.gen(function* () {
    const { context, workspaceId } = yield* TestPlane
    const connections = yield* Connections
    const connectionCommands = yield* ConnectionCommands
    const sql = yield* SqlClient.SqlClient
    const { id } = yield* connections.create(context, {
      workspaceId,
      provider: "acme/short",
      displayName: "short",
      values: { SHORT_TOKEN: "short-canary-token" },
      expiresAt: "2990-01-15T00:00:00.000Z"
    })
    const seen = Effect.fnUntraced(function* (expiresIn: Duration.Input) {
      const expiresAt = DateTime.formatIso(
        DateTime.addDuration(yield* DateTime.now, Duration.fromInputUnsafe(expiresIn))
      )
      yield* sql`UPDATE connections SET expires_at = ${expiresAt} WHERE id = ${id}`
      const found = yield* connections.expiring(workspaceId)
      return found.flatMap((each) => (each.id === id ? [each.status] : []))
    })
    expect(yield* seen("15 days")).toEqual([])
    expect(yield* seen("13 days")).toEqual(["pending"])
    expect(yield* seen("-1 days")).toEqual(["expired"])
    yield* connectionCommands.Revoke(id, { context })
    expect(yield* seen("1 days")).toEqual([])
  })
)
