import { DatabaseSync } from "node:sqlite"
import { expect } from "bun:test"
import { Effect, Schedule } from "effect"
import { platform } from "../../../src/composition/Platform.ts"
import { it } from "../../support/Effect.ts"
import { servedPerson } from "../support/ServedPerson.ts"
import { hasPostgres, otherSession } from "../../support/PostgresTests.ts"

const past = "2026-01-01T00:00:00.000Z"

/** Runs statements as another process would. */
const elsewhere = Effect.fnUntraced(function* (dataDir: string) {
  if (hasPostgres) {
    const execute = yield* otherSession(dataDir)
    return (statement: string): Effect.Effect<void, unknown> => execute(statement)
  }
  const other = yield* Effect.acquireRelease(
    Effect.sync(() => new DatabaseSync(`${dataDir}/svc.sqlite`, { timeout: 0 })),
    (database) => Effect.sync(() => database.close())
  )
  return (statement: string): Effect.Effect<void, unknown> => Effect.try(() => other.exec(statement))
})

// If several requests arrive together, svc checks only once for commits of other processes. The test needs a real socket,
// because only a socket delivers several requests in one turn.
it.live("requests over many connections see every commit that another process made before the requests were sent", () =>
  Effect.gen(function* () {
    const { cookie, dataDir, url } = yield* servedPerson
    const execute = yield* elsewhere(dataDir)
    const ask = Effect.promise(() =>
      fetch(`${url}/api/v1/workspaces`, { headers: { cookie } }).then(({ status }) => status)
    )
    const askTogether = Effect.all(
      Array.from({ length: 10 }, () => ask),
      { concurrency: "unbounded" }
    )
    // Retries instead of waiting inside SQLite, because a wait inside SQLite would block this process, which must itself end
    // the transaction.
    const commit = (statement: string) => Effect.retry(execute(statement), Schedule.spaced("5 millis"))
    const all = (status: number) => Array.from({ length: 10 }, () => status)
    for (let round = 0; round < 20; round++) {
      expect(yield* askTogether).toEqual(all(200))
      yield* commit(`UPDATE account_sessions SET revoked_at = '${past}'`)
      expect(yield* askTogether).toEqual(all(401))
      yield* commit("UPDATE account_sessions SET revoked_at = NULL")
    }
  }).pipe(Effect.scoped, Effect.provide(platform))
)
