import { afterAll, expect } from "bun:test"
import { Effect, Layer } from "effect"
import { Commits } from "../../../../actors/base/database/Commits.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import { RunQueue } from "../../../../actors/running/queue/RunQueue.ts"
import { newPerson, newWorkspace, testAccounts } from "../../../support/Accounts.ts"
import { suite } from "../../../support/Effect.ts"
import { namedRun } from "../../../support/NamedIds.ts"
import { testQueue } from "./support/TestQueue.ts"

const tests = suite(testQueue({ concurrency: 9, workspaceConcurrency: 9 }).pipe(Layer.provideMerge(testAccounts)))
afterAll(tests.dispose)

tests.live("a claim that finds nothing performs one read and no transaction", () =>
  Effect.gen(function* () {
    const queue = yield* RunQueue
    let statements = 0
    const stop = (yield* Commits).beforeWrites(() => {
      statements += 1
    })
    expect(yield* queue.claim("owner")).toBeUndefined()
    // If the database has separate readers, a claim that finds nothing does not use the writer.
    expect(statements).toBeLessThanOrEqual(1)
    stop()
    const owner = yield* newPerson("empty")
    const { id: workspaceId } = yield* newWorkspace(owner.subject, { handle: "empty" })
    const sync = { type: "source_sync", trigger: "user", spec: {} } as const
    yield* (yield* RunLedger).insert({ id: namedRun("sync"), workspaceId, ...sync })
    expect((yield* queue.claim("owner"))?.id).toBe(namedRun("sync"))
  })
)
