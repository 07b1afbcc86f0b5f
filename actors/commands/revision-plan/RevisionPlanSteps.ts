import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import {
  type CompatibilityReportId,
  type RevisionPlanId,
  RunId,
  type SourceSnapshotId
} from "../../../schema/records/Ids.ts"
import { CommandContext } from "../../../schema/commands/Command.ts"
import type { AuditActor } from "../../../schema/records/AuditEvent.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import { CapsuleRuns } from "../capsule/CapsuleRuns.ts"
import { derivedId } from "../../base/Identity.ts"
import { failuresOf, stepAfterJob, stepAfterPlan } from "../../ledger/run/CoordinatorSteps.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { RunQueue } from "../../running/queue/RunQueue.ts"
import type { CheckSpec } from "../../running/execution/CheckExecution.ts"
import { SourceStore } from "../../ledger/source/SourceStore.ts"
import { stagedOf } from "../../ledger/source/StagedRows.ts"
import type { SyncSpec } from "../../inputs/git/LaneFetch.ts"
import { type RevisionPlanRow, RevisionPlanStore } from "./RevisionPlanStore.ts"

const decodeActor = Schema.decodeUnknownEffect(Schema.fromJsonString(CommandContext))

/** The steps of a revision: sync the ref, check it, plan it. The Capsule keeps tracking its old lane until an apply. */
export class RevisionPlanSteps extends Context.Service<
  RevisionPlanSteps,
  {
    /** Takes the next step if it is due, in the caller's transaction. Returns `false` if the plan must wait or has ended. */
    readonly step: (id: RevisionPlanId) => Effect.Effect<boolean>
  }
>()("svc/actors/commands/revision-plan/RevisionPlanSteps") {
  static readonly layer = Layer.effect(
    RevisionPlanSteps,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const plans = yield* RevisionPlanStore
      const sources = yield* SourceStore
      const capsules = yield* CapsuleLedger
      const runs = yield* CapsuleRuns
      const ledger = yield* RunLedger
      const queue = yield* RunQueue

      const recordsOf = Effect.fnUntraced(function* (row: RevisionPlanRow) {
        const capsule = yield* capsules.find(row.capsule_id)
        const source = capsule === undefined ? undefined : yield* sources.find(capsule.source_id)
        if (capsule === undefined || source === undefined)
          return yield* Effect.die(new Error(`Records of ${row.id} are gone`))
        return { capsule, source }
      })

      const startSync = Effect.fnUntraced(function* (row: RevisionPlanRow, createdBy: string | undefined) {
        const { capsule, source } = yield* recordsOf(row)
        const runId = derivedId(RunId, "run", row.id, "sync")
        yield* ledger.insert({
          id: runId,
          workspaceId: row.workspace_id,
          type: "source_sync",
          sourceId: source.id,
          coordinator: { kind: "revision_plan", id: row.id },
          createdBy,
          trigger: "user",
          spec: {
            url: source.url,
            ref: row.ref,
            path: capsule.tracked_path,
            intent: "manual_plan",
            ...(source.auth_connection_id === null ? {} : { authConnectionId: source.auth_connection_id })
          } satisfies SyncSpec
        })
        yield* plans.update(row.id, { sync_run_id: runId })
        yield* sql.afterCommit(queue.wake)
      })

      const startCheck = Effect.fnUntraced(function* (
        row: RevisionPlanRow,
        snapshotId: SourceSnapshotId,
        createdBy: string | undefined
      ) {
        const { capsule, source } = yield* recordsOf(row)
        const snapshot = yield* sources.findSnapshot(snapshotId)
        if (snapshot === undefined) return yield* Effect.die(new Error(`Snapshot ${snapshotId} is gone`))
        const runId = derivedId(RunId, "run", row.id, "check")
        yield* ledger.insert({
          id: runId,
          workspaceId: row.workspace_id,
          type: "compatibility_check",
          sourceId: source.id,
          sourceSnapshotId: snapshotId,
          resolvedCommit: snapshot.resolved_commit,
          coordinator: { kind: "revision_plan", id: row.id },
          createdBy,
          trigger: "user",
          spec: {
            sourceId: source.id,
            snapshot: stagedOf(snapshot),
            modulePath: capsule.module_path,
            installConfigId: capsule.install_config_id,
            ...(capsule.tool_name === null ? {} : { tool: capsule.tool_name })
          } satisfies CheckSpec
        })
        yield* plans.update(row.id, {
          check_run_id: runId,
          source_snapshot_id: snapshotId,
          phase: "analyzing_compatibility"
        })
        yield* sql.afterCommit(queue.wake)
      })

      const startPlan = Effect.fnUntraced(function* (
        row: RevisionPlanRow,
        reportId: CompatibilityReportId,
        { subject, tokenId }: AuditActor
      ) {
        const { capsule } = yield* recordsOf(row)
        const report = yield* sources.findReport(reportId)
        if (report?.status === "unsupported") {
          return yield* plans.fail(row.id, [
            {
              severity: "error",
              code: "module_unsupported",
              message: `The module ${capsule.module_path} is not supported at ${row.ref}.`
            }
          ])
        }
        const runId = derivedId(RunId, "run", row.id, "plan")
        yield* runs
          .create(capsule, {
            runId,
            type: "plan",
            sourceSnapshotId: row.source_snapshot_id ?? undefined,
            trigger: "user",
            createdBy: subject,
            tokenId,
            purpose: row.speculative === 1 ? "speculative" : undefined,
            coordinator: { kind: "revision_plan", id: row.id }
          })
          .pipe(
            Effect.andThen(
              plans.update(row.id, { compatibility_report_id: reportId, plan_run_id: runId, phase: "planning" })
            ),
            Effect.catch((error) =>
              plans.fail(row.id, [{ severity: "error", code: error.code, message: error.message }])
            )
          )
      })

      const step = Effect.fn("RevisionPlan.step")(function* (id: RevisionPlanId) {
        const row = yield* plans.find(id)
        if (row === undefined) return false
        const { actor } = yield* Effect.orDie(decodeActor(row.actor))
        switch (row.phase) {
          case "syncing_source": {
            if (row.sync_run_id === null) {
              yield* startSync(row, actor.subject)
              return true
            }
            const run = yield* ledger.find(row.sync_run_id)
            const next = stepAfterJob(run)
            if (run === undefined || next === "wait") return false
            if (next === "advance" && run.source_snapshot_id !== null) {
              yield* startCheck(row, run.source_snapshot_id, actor.subject)
            } else yield* plans.fail(id, failuresOf(run, "source sync"))
            return true
          }
          case "analyzing_compatibility": {
            const run = yield* ledger.find(row.check_run_id)
            const next = stepAfterJob(run)
            if (run === undefined || next === "wait") return false
            if (next === "advance" && run.compatibility_report_id !== null) {
              yield* startPlan(row, run.compatibility_report_id, actor)
            } else yield* plans.fail(id, failuresOf(run, "compatibility check"))
            return true
          }
          case "planning": {
            const run = yield* ledger.find(row.plan_run_id)
            const next = stepAfterPlan(run)
            if (run === undefined || next === "wait") return false
            if (next === "advance") yield* plans.update(id, { phase: "reviewable" })
            else yield* plans.fail(id, failuresOf(run, "plan"))
            return true
          }
          case "reviewable":
          case "failed":
            return false
        }
      })

      return RevisionPlanSteps.of({ step })
    })
  )
}
