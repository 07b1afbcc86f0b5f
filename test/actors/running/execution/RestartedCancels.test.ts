import { expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { transaction } from "../../../../actors/base/database/Transaction.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import { RunLifecycle } from "../../../../actors/ledger/run/RunLifecycle.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { platform } from "../../../../src/composition/Platform.ts"
import { temporaryFolder } from "../../../support/ControlPlane.ts"
import { it } from "../../../support/Effect.ts"
import { setRun } from "../../../support/HeldRuns.ts"
import { settled } from "../../../support/Journey.ts"
import { namedRun } from "../../../support/NamedIds.ts"
import { providerMirror } from "../../../support/ProviderMirror.ts"
import { newOwner, planeAt } from "../../../support/TestPlane.ts"
import { pureModules, pureRunner } from "../../support/PureRunner.ts"

it.live(
  "the next startup cancels a Run with a pending stop request, even after a second restart",
  () =>
    Effect.gen(function* () {
      const dataDir = `${yield* temporaryFolder}/data`
      const mirror = yield* providerMirror
      const process = Layer.fresh(planeAt({ dataDir, mirror, origins: [] }, { runner: pureRunner(pureModules()) }))
      const runs = [namedRun("once"), namedRun("twice")]

      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { workspaceId } = yield* newOwner("owner")
        const [own] = yield* sql<{ name: string }>`SELECT installation_id || '#' || incarnation AS name
          FROM installation`
        for (const [index, id] of runs.entries()) {
          yield* Effect.gen(function* () {
            yield* (yield* RunLedger).insert({ id, workspaceId, type: "plan", trigger: "user", spec: {} })
            // Claims the Run in the transaction that queues it, so that no service executes it.
            yield* (yield* RunLifecycle).claim(id, own?.name ?? "")
            yield* (yield* RunLifecycle).requestCancel(id, { reason: "not today" })
          }).pipe(transaction(sql))
          yield* setRun(id, { attempt: index + 1 })
        }
      }).pipe(Effect.provide(process, { local: true }))

      yield* Effect.gen(function* () {
        for (const id of runs) {
          const run = yield* settled(id)
          expect({ id, status: run.status, error: run.error }).toEqual({ id, status: "cancelled", error: undefined })
        }
        expect((yield* (yield* Runs).read(namedRun("once"))).attempt).toBe(1)
      }).pipe(Effect.provide(process, { local: true }))
    }).pipe(Effect.provide(platform)),
  60_000
)
