import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { RollbackPlanRequest } from "../../../schema/api/RunsApi.ts"
import { type ApiError, failedPrecondition, notFound } from "../../../schema/errors/ApiError.ts"
import {
  type BackupId,
  type CapsuleId,
  InstallConfigId,
  RunId,
  type StateVersionId
} from "../../../schema/records/Ids.ts"
import { effectiveDriftHours } from "../../../schema/tables/DriftTables.ts"
import type { CommandContext, IdempotentRequest } from "../../../schema/commands/Command.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { Receipts } from "../../base/idempotency/Receipts.ts"
import { newId } from "../../base/Identity.ts"
import { updateRefusal } from "../../running/run-group/UpdateHold.ts"
import { automationRefusal } from "../../ledger/workspace/StoredWorkspace.ts"
import { scheduledCheckRefusal } from "../../ledger/capsule/ScheduledChecks.ts"
import { KillPoint } from "../../base/KillPoint.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { RunQueue } from "../../running/queue/RunQueue.ts"
import { acceptsDrift, toRun } from "../../ledger/run/RunRow.ts"
import type { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import type { GuardedCapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { type CapsuleRunRequest, CapsuleRuns } from "./CapsuleRuns.ts"
import { bindingsOf } from "../../ledger/configuration/StoredBindings.ts"
import { ConfigSuccession } from "../../ledger/configuration/ConfigSuccession.ts"
import { InstallConfigStore } from "../../ledger/configuration/InstallConfigStore.ts"
import { StateVersions } from "../../ledger/state/StateVersions.ts"

type Load = Effect.Effect<GuardedCapsuleRow, ApiError, CapsuleLedger>

/** Returns the current Run, with its queue position. */
const projected = Effect.fnUntraced(function* (runId: RunId) {
  const ledger = yield* RunLedger
  const queue = yield* RunQueue
  const row = yield* ledger.find(runId)
  return row === undefined ? yield* Effect.die(new Error(`Run ${runId} is gone`)) : toRun(row, yield* queue.place(row))
})

const audited = Effect.fnUntraced(function* (
  context: CommandContext,
  capsule: GuardedCapsuleRow,
  action: string,
  runId: RunId
) {
  const audit = yield* Audit
  yield* audit.append({
    workspaceId: capsule.workspace_id,
    actor: context.actor,
    action,
    target: { kind: "capsule", id: capsule.id },
    capsuleId: capsule.id,
    runId,
    requestId: context.requestId
  })
})

/** Runs the effect in one transaction. If there is an idempotency key, the effect happens at most once per key. */
const perhapsOnce = Effect.fnUntraced(function* <R>(
  capsule: GuardedCapsuleRow,
  route: string,
  context: CommandContext,
  idempotency: IdempotentRequest | undefined,
  create: Effect.Effect<RunId, ApiError, R>
) {
  const receipts = yield* Receipts
  const sql = yield* SqlClient.SqlClient
  if (idempotency === undefined) {
    return { value: yield* transaction(sql)(Effect.flatMap(create, projected)), replayed: false }
  }
  return yield* receipts.once(
    { scope: capsule.workspace_id, actor: context.actorKey, route: `${route} ${capsule.id}` },
    idempotency,
    {
      create: Effect.gen(function* () {
        const runId = yield* create
        return { value: yield* projected(runId), receipt: { resultId: runId, firstStatus: 201 } }
      }),
      replay: (receipt) => projected(RunId.make(receipt.resultId))
    }
  )
})

/**
 * Returns the reason why the schedule must not check the Capsule, or `undefined` if scheduled checks are enabled. They may have
 * been disabled after the check became due.
 */
const unscheduled = Effect.fnUntraced(function* (capsuleId: CapsuleId) {
  const sql = yield* SqlClient.SqlClient
  const scheduled = yield* Effect.orDie(sql`SELECT 1 AS one FROM capsules c JOIN workspaces w ON w.id = c.workspace_id
    WHERE c.id = ${capsuleId} AND ${sql.literal(effectiveDriftHours)} > 0`)
  return scheduled.length > 0 ? undefined : "checks of the Capsule are not scheduled any more"
})

const requireBackup = Effect.fnUntraced(function* (capsule: GuardedCapsuleRow, id: BackupId) {
  const sql = yield* SqlClient.SqlClient
  const found = yield* Effect.orDie(sql`SELECT 1 AS one FROM backups WHERE id = ${id}
    AND workspace_id = ${capsule.workspace_id} AND COALESCE(capsule_id, ${capsule.id}) = ${capsule.id}`)
  if (found.length === 0) return yield* notFound("Backup")
})

/** Creates a plan, destroy plan or drift check under the Capsule's current authority. */
export const createRun = Effect.fnUntraced(function* (
  load: Load,
  context: CommandContext,
  {
    automatic = false,
    schedule,
    ...request
  }: Omit<CapsuleRunRequest, "runId" | "createdBy" | "tokenId" | "trigger"> & {
    readonly schedule?: { readonly by?: string } | undefined
    /** True if the plan belongs to a wave of an update and no person has just requested it. */
    readonly automatic?: boolean | undefined
  },
  idempotency: IdempotentRequest | undefined
) {
  const runs = yield* CapsuleRuns
  const route =
    request.purpose === "reconcile" ? "reconcile_plan" : request.type === "restore" ? "restore_plan" : request.type
  const action = request.purpose === acceptsDrift ? "accept_drift_plan" : route
  const create = Effect.gen(function* () {
    const capsule = yield* load
    const runId = yield* newId(RunId, "run")
    if (schedule !== undefined) {
      const refusal = (yield* automationRefusal(capsule.workspace_id)) ?? (yield* unscheduled(capsule.id))
      if (refusal !== undefined) return yield* failedPrecondition(`No scheduled check: ${refusal}.`)
      // Drift checks may have been disabled since this check was scheduled.
      const off = yield* scheduledCheckRefusal(capsule.id)
      if (off !== undefined) return yield* failedPrecondition(off)
    }
    if (request.backupId !== undefined) yield* requireBackup(capsule, request.backupId)
    if (request.type === "plan" && request.runGroupId !== undefined) {
      const refusal = yield* updateRefusal(request.runGroupId, automatic)
      if (refusal !== undefined) return yield* failedPrecondition(refusal)
    }
    const trigger = schedule !== undefined ? "schedule" : context.actor.kind === "service" ? "service" : "user"
    const { subject, tokenId } = context.actor
    yield* runs.create(capsule, { ...request, runId, trigger, createdBy: schedule?.by ?? subject, tokenId })
    yield* audited(context, capsule, `capsule.${action}`, runId)
    return runId
  })
  return yield* perhapsOnce(yield* load, `capsules.${route}`, context, idempotency, create)
})

/** Creates the apply of an approved plan, and marks the plan as used. */
export const applyPlan = Effect.fnUntraced(function* (
  load: Load,
  context: CommandContext,
  planRunId: RunId,
  idempotency: IdempotentRequest | undefined
) {
  const runs = yield* CapsuleRuns
  const create = Effect.gen(function* () {
    const capsule = yield* load
    const runId = yield* newId(RunId, "run")
    yield* runs.createApply(capsule, { runId, planRunId, createdBy: context.actor.subject, trigger: "user" })
    yield* audited(context, capsule, "run.apply", runId)
    return runId
  })
  const asked = yield* perhapsOnce(yield* load, `runs.apply ${planRunId}`, context, idempotency, create)
  yield* (yield* KillPoint)("apply.asked")
  return asked
})

/**
 * Plans the commit and configuration of an earlier StateVersion against the current state. If the configuration differs,
 * derives a successor of the current configuration, so that the plan has the current authority.
 */
export const rollbackPlan = Effect.fnUntraced(function* (
  load: Load,
  context: CommandContext,
  stateVersionId: StateVersionId,
  { reason, resumeOnNewCommit = false }: RollbackPlanRequest
) {
  const sql = yield* SqlClient.SqlClient
  const states = yield* StateVersions
  const configs = yield* InstallConfigStore
  const succession = yield* ConfigSuccession
  const runs = yield* CapsuleRuns
  return yield* Effect.gen(function* () {
    const capsule = yield* load
    const version = yield* states.find(stateVersionId)
    if (version === undefined || version.capsule_id !== capsule.id) return yield* notFound("StateVersion")
    if (version.source_snapshot_id === null || version.partial === 1) {
      return yield* failedPrecondition("This StateVersion did not come from a successful apply of a snapshot.")
    }
    let current = capsule
    if (version.install_config_id !== capsule.install_config_id) {
      yield* succession.idle(capsule)
      const earlier = yield* configs.load(version.install_config_id)
      if (earlier === undefined) return yield* notFound("InstallConfig")
      current = yield* succession.succeed(capsule, {
        id: yield* newId(InstallConfigId, "icfg"),
        workspaceId: capsule.workspace_id,
        origin: earlier.row.origin,
        modulePath: earlier.row.module_path,
        sourceSnapshotId: earlier.row.source_snapshot_id ?? undefined,
        compatibilityReportId: earlier.row.compatibility_report_id ?? undefined,
        contractDigest: earlier.row.contract_digest,
        config: earlier.config,
        values: yield* configs.values(earlier.row),
        bindings: yield* bindingsOf(earlier.row.id)
      })
    }
    const runId = yield* newId(RunId, "run")
    yield* runs.create(current, {
      runId,
      type: "plan",
      sourceSnapshotId: version.source_snapshot_id,
      trigger: "user",
      purpose: "rollback",
      rollback: { generation: version.generation, resumeOnNewCommit, ...(reason === undefined ? {} : { reason }) },
      createdBy: context.actor.subject,
      tokenId: context.actor.tokenId
    })
    yield* audited(context, capsule, "capsule.rollback_plan", runId)
    return yield* projected(runId)
  }).pipe(transaction(sql))
})
