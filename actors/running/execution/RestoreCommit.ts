import { Effect, Schema } from "effect"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { InstallConfigId } from "../../../schema/records/Ids.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { pinOfRestore } from "../../ledger/capsule/AutoUpdatePins.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import type { GuardedCapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { buildColumns, storedBuild } from "../../ledger/build/BuildColumns.ts"
import { derivedId, now } from "../../base/Identity.ts"
import { RunHandover } from "./RunHandover.ts"
import { type HoldLost, holdOf, type StopRequested } from "../../ledger/run/RunHold.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { RunLifecycle } from "../../ledger/run/RunLifecycle.ts"
import { type OutputRow, PrivateOriginsJson } from "../../ledger/state/StateVersionRow.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"
import { SourceLanes } from "../../ledger/source/SourceLanes.ts"
import { StaleReasons } from "../../ledger/staleness/StaleReasons.ts"
import { StateVersions } from "../../ledger/state/StateVersions.ts"
import { ConfigSuccession } from "../../ledger/configuration/ConfigSuccession.ts"
import { rememberedSecrets } from "./AppliedCapsule.ts"
import type { RestoreTarget } from "./RestoreTarget.ts"

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
export const makeRestoreCommit = Effect.gen(function* () {
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
