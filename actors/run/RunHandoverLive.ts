import { livingCapsule } from "../../schema/tables/CapsuleTables.ts"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CapsuleActor } from "../../schema/protocol/CapsuleActor.ts"
import { CapsuleId } from "../../schema/records/Ids.ts"
import { InstallPlanActor, RevisionPlanActor } from "../../schema/protocol/PlanActors.ts"
import { SourceActor } from "../../schema/protocol/SourceActor.ts"
import { handedOver } from "../ActorClient.ts"
import { rowShape } from "../database/Table.ts"
import { RunHandover } from "./RunHandover.ts"
import { removableBy } from "./UnreadSource.ts"

const Follower = rowShape({ id: CapsuleId })

/** Hand-overs are messages in the caller's transaction; they carry ids only, since they are stored as plain text. */
export const layer = Layer.effect(
  RunHandover,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const installPlans = yield* InstallPlanActor.client
    const revisionPlans = yield* RevisionPlanActor.client
    const capsules = yield* CapsuleActor.client
    const sources = yield* SourceActor.client

    return RunHandover.of({
      finished: (run) => {
        if (run.coordinator_id === null) {
          const sourceId = removableBy(run)
          // The Source's actor knows whether the Source has been read: `run` is the row as it was before the Run ended.
          return sourceId === undefined
            ? Effect.void
            : handedOver(sources(sourceId).Unread({ runId: run.id }, { discard: true }))
        }
        const cause = `${run.id} ended attempt ${run.attempt}`
        const to = run.coordinator_kind === "install_plan" ? installPlans : revisionPlans
        return handedOver(to(run.coordinator_id).Advance({ cause }, { discard: true }))
      },
      planned: (run) =>
        run.capsule_id === null || run.trigger_kind !== "auto_update"
          ? Effect.void
          : handedOver(capsules(run.capsule_id).ApplyFollowed({ planRunId: run.id }, { discard: true })),
      snapshotTaken: Effect.fn("RunHandover.snapshotTaken")(function* ({
        autoUpdate,
        cause,
        look,
        snapshotId,
        sourceId
      }) {
        if (!autoUpdate) return
        // Excludes those that have already decided about this snapshot under their current authority and state.
        const followers = yield* Effect.orDie(Follower.rows(sql)`SELECT c.id FROM capsules c
          JOIN source_snapshots s ON s.id = ${snapshotId}
          WHERE c.source_id = ${sourceId} AND c.auto_update_enabled = 1 AND ${sql.literal(livingCapsule("c."))}
            AND c.adopted_ref = s.ref AND c.adopted_path = s.path
            AND NOT EXISTS (SELECT 1 FROM auto_update_decisions d
              WHERE d.capsule_id = c.id AND d.source_snapshot_id = s.id
                AND (d.run_id IS NOT NULL OR d.reason IN ('already_applied', 'pinned', 'planned_before'))
                AND d.execution_authority_epoch = c.execution_authority_epoch
                AND d.state_generation = c.current_state_generation)`)
        for (const { id } of followers) {
          yield* handedOver(capsules(id).FollowLane({ sourceSnapshotId: snapshotId, cause, look }, { discard: true }))
        }
      })
    })
  })
)
