import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { isInService } from "../../../schema/records/CapsuleLifecycle.ts"
import { authorityMoved } from "../../ledger/capsule/AuthorityColumns.ts"
import type { GuardedCapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { provided } from "../../base/Provided.ts"
import type { ConnectionStore } from "../../inputs/connection/ConnectionStore.ts"
import { rotatedSince } from "../../inputs/connection/RotatedConnections.ts"
import { movedInputsOf } from "../../ledger/consumption/ConsumedOutputs.ts"
import { isApply } from "../../ledger/run/RunLifecycle.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { type RunRow, toRun } from "../../ledger/run/RunRow.ts"
import type { StateVersions } from "../../ledger/state/StateVersions.ts"
import { refuseArchived } from "../../ledger/workspace/Projects.ts"
import { blocked, type RunBlocked } from "./RunSteps.ts"

/**
 * Returns the reason why a Run must not be executed on its Capsule, or `undefined` if it may be executed. Reads in the
 * caller's transaction. For an apply, also checks that the authority, inputs and credentials are still those that were
 * reviewed.
 */
export const makeCapsuleObstacle = Effect.gen(function* () {
  const ledger = yield* RunLedger

  /** Finds values and records that the apply's plan used and that are no longer available. */
  const lostOf = Effect.fnUntraced(function* (capsule: GuardedCapsuleRow, planRunId: RunRow["plan_run_id"]) {
    const lost = yield* movedInputsOf(capsule, planRunId)
    const plan = lost === undefined ? yield* ledger.find(planRunId) : undefined
    return plan === undefined ? lost : yield* rotatedSince(toRun(plan).providerResolutions)
  })

  return yield* provided(
    Effect.fnUntraced(function* (
      run: RunRow,
      capsule: GuardedCapsuleRow
    ): Effect.fn.Return<RunBlocked | undefined, never, ConnectionStore | SqlClient.SqlClient | StateVersions> {
      // The Workspace may have been archived since the Run was admitted.
      const archived = yield* refuseArchived(capsule.workspace_id).pipe(
        Effect.as(undefined),
        Effect.catchTag("ApiError", (refusal) => Effect.succeed(refusal)),
        Effect.orDie
      )
      if (archived !== undefined) return blocked(archived.code, archived.message)
      if (!isInService(capsule.status)) return blocked("failed_precondition", `The Capsule is ${capsule.status}.`)
      if (!isApply(run.type)) return undefined
      if (authorityMoved(run, capsule)) {
        return blocked(
          "superseded",
          "The Capsule's configuration or state has changed since this plan was reviewed. Plan again."
        )
      }
      const lost = yield* lostOf(capsule, run.plan_run_id)
      return lost === undefined ? undefined : blocked("superseded", lost)
    })
  )
})
