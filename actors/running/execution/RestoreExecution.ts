import { Clock, Duration, Effect, Result } from "effect"
import { SqlClient } from "effect/sql"
import { Approvals } from "../../access/approval/Approvals.ts"
import { authorityMoved } from "../../ledger/capsule/AuthorityColumns.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import type { GuardedCapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { KillPoint } from "../../base/KillPoint.ts"
import { RunHandover } from "./RunHandover.ts"
import { type HoldLost, holdLost, holdOf, type RunHold, type StopRequested } from "../../ledger/run/RunHold.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"
import { RunLifecycle } from "../../ledger/run/RunLifecycle.ts"
import { RunSettings } from "../../ledger/run/RunSettings.ts"
import { StateVersions } from "../../ledger/state/StateVersions.ts"
import { rememberedSecrets } from "./AppliedCapsule.ts"
import { failRun, supersedeRun } from "./RunEnding.ts"
import type { RunExecution } from "./RunExecution.ts"
import { makeRestoreCommit } from "./RestoreCommit.ts"
import { archivedIn, backupOf, restoreTarget } from "./RestoreTarget.ts"
import { provided } from "../../base/Provided.ts"

const moved =
  "The Capsule's configuration or state has changed since the restore was reviewed. Ask for the restore again."

/**
 * Restores a Capsule from a backup in two Runs: the first Run is reviewed, and the second performs the restore. Neither Run
 * executes a module. Each Run writes a single transaction, so it can be repeated after a crash.
 */
export const makeRestoreExecution = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const ledger = yield* RunLedger
  const lifecycle = yield* RunLifecycle
  const handover = yield* RunHandover
  const capsules = yield* CapsuleLedger
  const approvals = yield* Approvals
  const settings = yield* RunSettings
  const states = yield* StateVersions
  const killPoint = yield* KillPoint
  const commit = yield* makeRestoreCommit
  const readArchive = yield* provided(archivedIn)
  const readTarget = yield* provided(restoreTarget)
  const ending = { lifecycle, handover }

  const heldRun = Effect.fnUntraced(function* (hold: RunHold) {
    const run = yield* ledger.held(hold)
    return run ?? (yield* holdLost(hold))
  })

  /** Reads the contents of the backup, before the transaction. */
  const archivedOf = Effect.fnUntraced(function* (run: RunRow) {
    const review = run.plan_run_id === null ? run : yield* ledger.find(run.plan_run_id)
    if (review === undefined || run.capsule_id === null)
      return yield* Effect.die(new Error(`The review or the Capsule of the Run ${run.id} is gone`))
    const archived = yield* Effect.result(readArchive(run.capsule_id, yield* backupOf(review)))
    if (Result.isSuccess(archived) && run.plan_run_id !== null) {
      const { state, version } = archived.success
      const capsule = yield* capsules.find(run.capsule_id)
      const before = yield* states.find(capsule?.current_state_version_id ?? null)
      const secrets = rememberedSecrets(
        yield* states.secrets(version),
        before === undefined ? [] : yield* states.secrets(before)
      )
      yield* states.prepare({
        workspaceId: run.workspace_id,
        capsuleId: run.capsule_id,
        runId: run.id,
        generation: (capsule?.current_state_generation ?? 0) + 1,
        state,
        secrets
      })
    }
    return archived
  })
  type Archived = Effect.Success<ReturnType<typeof archivedOf>>

  const targetOf = (capsule: GuardedCapsuleRow, archived: Archived) =>
    Effect.result(Effect.flatMap(Effect.fromResult(archived), (read) => readTarget(capsule, read)))

  const review = Effect.fn("Run.reviewRestore")(function* (
    hold: RunHold,
    archived: Archived
  ): Effect.fn.Return<void, HoldLost | StopRequested> {
    const run = yield* heldRun(hold)
    const capsule = yield* capsules.find(run.capsule_id)
    if (capsule === undefined || authorityMoved(run, capsule)) return yield* supersedeRun(ending, run, moved)
    const target = yield* targetOf(capsule, archived)
    if (Result.isFailure(target)) return yield* failRun(ending, run, target.failure)
    const { digest, evidence } = target.success
    const expires =
      (yield* Clock.currentTimeMillis) + Duration.toMillis(Duration.fromInputUnsafe(settings.planLifetime))
    yield* ledger.record(hold, { plan_digest: digest, expires_at: new Date(expires).toISOString() })
    yield* lifecycle.waitForApproval(hold, { planDigest: digest, hasChanges: true }, { restore: evidence })
    yield* handover.finished(run)
  }, transaction(sql))

  const carryOut = Effect.fn("Run.restore")(function* (
    hold: RunHold,
    archived: Archived
  ): Effect.fn.Return<void, HoldLost | StopRequested> {
    const run = yield* heldRun(hold)
    const plan = yield* ledger.find(run.plan_run_id)
    const capsule = yield* capsules.find(run.capsule_id)
    if (plan === undefined || capsule === undefined)
      return yield* Effect.die(new Error(`The review or the Capsule of the Run ${run.id} is gone`))
    const refuse = (code: string, message: string) => failRun(ending, run, { code, message })
    const missing = yield* approvals.obstacle(plan)
    if (missing !== undefined) return yield* refuse("failed_precondition", `Not restored. ${missing}`)
    const target = yield* targetOf(capsule, archived)
    if (Result.isFailure(target)) return yield* failRun(ending, run, target.failure)
    // Compares the digest, which covers the generation, the epoch and the pointers, because an apply may have ended since
    // the restore was requested.
    if (target.success.digest !== plan.plan_digest) return yield* refuse("guard_conflict", moved)
    yield* commit({ run, plan, capsule, target: target.success })
    yield* killPoint("restore.committing")
  }, transaction(sql))

  const execution: RunExecution = Effect.fn("Run.restoreExecution")(function* (run, control) {
    yield* control.sink.event("run.phase", { phase: "state" })
    const archived = yield* archivedOf(run)
    yield* control.record((run.plan_run_id === null ? review : carryOut)(holdOf(run), archived))
  })
  return execution
})
