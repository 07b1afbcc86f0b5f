import { expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { transaction } from "../../../../actors/base/database/Transaction.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import { replacedReason, RunLifecycle } from "../../../../actors/ledger/run/RunLifecycle.ts"
import type { SourceSnapshotId } from "../../../../schema/records/Ids.ts"
import { platform } from "../../../../src/composition/Platform.ts"
import { temporaryFolder } from "../../../support/ControlPlane.ts"
import { it } from "../../../support/Effect.ts"
import { active, settled } from "../../../support/Journey.ts"
import { namedRun } from "../../../support/NamedIds.ts"
import { providerMirror } from "../../../support/ProviderMirror.ts"
import { newOwner, planeAt, servedRepository, TestPlane } from "../../../support/TestPlane.ts"
import { pureModule, pureModules, pureRunner } from "../../support/PureRunner.ts"

it.live(
  "a speculative plan interrupted by a restart is planned again without a review, and a replaced plan stays superseded",
  () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const dataDir = `${folder}/data`
      const mirror = yield* providerMirror
      const { commit, moveBranch, origin, url } = yield* servedRepository(`${folder}/repository.git`)
      const process = Layer.fresh(
        planeAt({ dataDir, mirror, origins: [origin] }, { runner: pureRunner(pureModules()) })
      )
      const [interrupted, replaced] = [namedRun("interrupted"), namedRun("replaced")]

      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { context, workspaceId } = yield* newOwner("owner")
        const plane = { context, workspaceId, dataDir, notesDir: mirror.notesDir, url, commit, moveBranch }
        const { capsule } = yield* active("restarted", pureModule).pipe(
          Effect.provideService(TestPlane, TestPlane.of(plane))
        )
        const [adopted] = yield* sql<{
          id: SourceSnapshotId
        }>`SELECT adopted_snapshot_id AS id FROM capsules WHERE id = ${capsule.id}`
        const [own] = yield* sql<{ name: string }>`SELECT installation_id || '#' || incarnation AS name
          FROM installation`
        const lifecycle = yield* RunLifecycle
        for (const id of [interrupted, replaced]) {
          // Claims the Run in the transaction that queues it, so that no service executes it.
          yield* Effect.gen(function* () {
            yield* (yield* RunLedger).insert({
              id,
              workspaceId,
              type: "plan",
              purpose: "speculative",
              capsuleId: capsule.id,
              sourceId: capsule.sourceId,
              sourceSnapshotId: adopted?.id,
              installConfigId: capsule.installConfigId,
              trigger: "user",
              createdBy: context.actor.subject,
              spec: {}
            })
            yield* lifecycle.claim(id, own?.name ?? "")
            if (id === replaced) yield* lifecycle.requestCancel(id, { reason: replacedReason })
          }).pipe(transaction(sql))
        }
      }).pipe(Effect.provide(process, { local: true }))

      yield* Effect.gen(function* () {
        const run = yield* settled(interrupted)
        expect([run.status, run.attempt, run.speculative]).toEqual(["succeeded", 2, true])
        expect(run.approvedAt).toBeUndefined()
        const ended = yield* settled(replaced)
        expect([ended.status, ended.endedBy?.reason]).toEqual(["superseded", replacedReason])
      }).pipe(Effect.provide(process, { local: true }))
    }).pipe(Effect.provide(platform)),
  60_000
)
