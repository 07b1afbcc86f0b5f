import { Clock, Duration, Effect, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { InstallConfigId } from "../../../schema/records/Ids.ts"
import { Approvals } from "../../access/approval/Approvals.ts"
import { derivedId, now } from "../../base/Identity.ts"
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
import { archivedIn, backupOf, restoreTarget, type RestoreTarget } from "./RestoreTarget.ts"
import { provided } from "../../base/Provided.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { buildColumns, storedBuild } from "../../ledger/build/BuildColumns.ts"
import { pinOfRestore } from "../../ledger/capsule/AutoUpdatePins.ts"
import { ConfigSuccession } from "../../ledger/configuration/ConfigSuccession.ts"
import { SourceLanes } from "../../ledger/source/SourceLanes.ts"
import { StaleReasons } from "../../ledger/staleness/StaleReasons.ts"
import { type OutputRow, PrivateOriginsJson } from "../../ledger/state/StateVersionRow.ts"

const moved =
  "The Capsule's configuration or state has changed since the restore was reviewed. Ask for the restore again."

const typeOf = Schema.decodeSync(Schema.fromJsonString(Schema.Json))

interface Reviewed {
  readonly run: RunRow
  readonly plan: RunRow
  readonly capsule: GuardedCapsuleRow
  readonly target: RestoreTarget
}

/**
 * Commits a reviewed restore in the caller's transaction: a successor of the archived configuration, a new StateVersion, Outputs,
 * pointers, generation and epoch. All ids are new, so plans and applies that were created before the restore remain void.
 */
const makeRestoreCommit = Effect.gen(function* () {
  const capsules = yield* CapsuleLedger
  const succession = yield* ConfigSuccession
  const states = yield* StateVersions
  const runs = yield* RunLedger
  const lifecycle = yield* RunLifecycle
  const handover = yield* RunHandover
  const staleReasons = yield* StaleReasons
  const lanes = yield* SourceLanes
  const audit = yield* Audit

  const impossible = (run: RunRow) => Effect.die(new Error(`The Capsule of ${run.id} moved inside its transaction`))

  /**
   * Returns the archived configuration. If the current configuration is a different one, replaces it with a successor that
   * has the archived contents, which also changes the epoch.
   */
  const configured = Effect.fnUntraced(function* ({ capsule, run, target }: Reviewed) {
    const { bindings, config, values } = target.config
    if (config.row.id === capsule.install_config_id) return capsule
    return yield* succession
      .succeed(capsule, {
        id: derivedId(InstallConfigId, "icfg", run.id, "restore"),
        workspaceId: capsule.workspace_id,
        origin: config.row.origin,
        modulePath: config.row.module_path,
        sourceSnapshotId: config.row.source_snapshot_id ?? undefined,
        compatibilityReportId: config.row.compatibility_report_id ?? undefined,
        contractDigest: config.row.contract_digest,
        config: config.config,
        values,
        bindings
      })
      .pipe(Effect.catch(() => impossible(run)))
  })

  const stateOutput = (row: OutputRow) =>
    Effect.map(states.outputValue(row), (value) => ({
      name: row.name,
      type: typeOf(row.type),
      value,
      sensitive: row.sensitive === 1,
      origins: row.private_origins === null ? undefined : PrivateOriginsJson.read(row.private_origins)
    }))

  return Effect.fn("Run.commitRestore")(function* (
    reviewed: Reviewed
  ): Effect.fn.Return<void, HoldLost | StopRequested> {
    const { capsule, plan, run, target } = reviewed
    const { archived, before, evidence, outputs, serial, state, version } = target
    const hold = holdOf(run)
    const after = yield* configured(reviewed)
    const secrets = rememberedSecrets(
      yield* states.secrets(version),
      before === undefined ? [] : yield* states.secrets(before)
    )
    const made = yield* states.insert({
      workspaceId: capsule.workspace_id,
      capsuleId: capsule.id,
      runId: run.id,
      generation: evidence.next.generation,
      state,
      lineage: version.lineage,
      serial,
      resourceCount: version.resource_count,
      partial: version.partial === 1,
      sourceSnapshotId: version.source_snapshot_id ?? undefined,
      installConfigId: after.install_config_id,
      outputs: yield* Effect.forEach(outputs, stateOutput),
      secrets,
      build: buildColumns(storedBuild(version))
    })
    const fenced = yield* capsules.fence(after, {
      current_state_version_id: made.id,
      current_state_generation: evidence.next.generation,
      execution_authority_epoch: evidence.next.executionAuthorityEpoch,
      // Until the next apply, it is unknown how the infrastructure differs from this state.
      status: "stale",
      runtime_safety: "unknown",
      drift_status: "unknown",
      adopted_snapshot_id: archived.adopted_snapshot_id,
      adopted_ref: archived.adopted_ref,
      adopted_path: archived.adopted_path,
      adopted_commit: archived.adopted_commit,
      tool_name: archived.tool_name,
      provider_lock: archived.provider_lock,
      public_endpoint: archived.public_endpoint,
      ...pinOfRestore(run, plan, { at: yield* now, backupAt: evidence.backupCreatedAt })
    })
    if (!fenced) return yield* impossible(run)
    yield* staleReasons.restored(capsule.id, run.id)
    yield* staleReasons.producerMoved(capsule.id)
    yield* lanes.settleStatus(capsule.source_id)
    yield* runs.supersedePlans(capsule.id, "The Capsule was restored from a backup.")
    yield* runs.record(hold, { state_version_id: made.id, install_config_id: after.install_config_id })
    yield* audit.append({
      workspaceId: capsule.workspace_id,
      actor: serviceContext.actor,
      action: "capsule.restored",
      target: { kind: "capsule", id: capsule.id },
      capsuleId: capsule.id,
      runId: run.id,
      data: {
        backupId: evidence.backupId,
        planRunId: plan.id,
        stateVersionId: made.id,
        previousStateVersionId: capsule.current_state_version_id,
        ...evidence.next
      }
    })
    yield* lifecycle.succeed(hold, { stateVersionId: made.id }, { restore: evidence })
    yield* handover.finished(run)
  })
})

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
