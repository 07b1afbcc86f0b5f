import { afterAll, expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SharedDatabase } from "../../../../actors/base/node/Nodes.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import { RunQueue } from "../../../../actors/running/queue/RunQueue.ts"
import { newPerson, newWorkspace, testAccounts } from "../../../support/Accounts.ts"
import { suite } from "../../../support/Effect.ts"
import { namedCapsule, namedRun } from "../../../support/NamedIds.ts"
import { testQueue } from "./support/TestQueue.ts"

const tests = suite(
  testQueue({ concurrency: 9, workspaceConcurrency: 9 }).pipe(
    Layer.provideMerge(testAccounts),
    Layer.provide(Layer.succeed(SharedDatabase, true))
  )
)
afterAll(tests.dispose)

tests.live("servers that share a database execute no module, and report that an agent is required", () =>
  Effect.gen(function* () {
    const ledger = yield* RunLedger
    const queue = yield* RunQueue
    const owner = yield* newPerson("shared")
    const { id: workspaceId } = yield* newWorkspace(owner.subject, { handle: "shared" })
    const types = ["plan", "destroy_plan", "apply", "destroy_apply", "drift_check"] as const
    for (const type of types) {
      yield* ledger.insert({
        id: namedRun(type),
        workspaceId,
        type,
        trigger: "user",
        spec: {},
        capsuleId: namedCapsule(type)
      })
    }
    const sync = { type: "source_sync", trigger: "user", spec: {} } as const
    yield* ledger.insert({ id: namedRun("sync"), workspaceId, ...sync })
    expect((yield* queue.claim("owner"))?.id).toBe(namedRun("sync"))
    expect(yield* queue.claim("owner")).toBeUndefined()
    for (const type of types) {
      const row = yield* ledger.find(namedRun(type))
      const place = row === undefined ? undefined : yield* queue.place(row)
      expect({ type, reason: place?.reason, message: place?.message }).toEqual({
        type,
        reason: "no_agent",
        message: expect.stringContaining("executed by agents only")
      })
    }
  })
)
