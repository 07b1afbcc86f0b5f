import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type InstallPlanId, RunId, SourceId } from "../../../schema/records/Ids.ts"
import { DatabaseFile } from "../../base/database/DatabaseFile.ts"
import { derivedId } from "../../base/Identity.ts"
import { KillPoint } from "../../base/KillPoint.ts"
import { failuresOf, FindingsJson, stepAfterJob, stepAfterPlan } from "../../ledger/run/CoordinatorSteps.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { RunQueue } from "../../running/queue/RunQueue.ts"
import { RunResults } from "../../ledger/run/RunResults.ts"
import { StagedSnapshotJson } from "../../ledger/source/StagedFindings.ts"
import type { CheckSpec } from "../../running/execution/CheckExecution.ts"
import type { SyncSpec } from "../../inputs/git/LaneFetch.ts"
import { StateAdoption } from "../adoption/StateAdoption.ts"
import { InitialCommit } from "./InitialCommit.ts"
import { type InstallPlanRow, StoredActorJson, type StoredRequest, StoredRequestJson } from "./InstallPlanRow.ts"
import { InstallPlanStore } from "./InstallPlanStore.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { integrityFault, orOnIntegrityFault } from "../../base/vault/IntegrityFault.ts"
import { Vault } from "../../base/vault/Vault.ts"

const decodeRequest = Schema.decodeUnknownEffect(StoredRequestJson)
const decodeActor = Schema.decodeUnknownEffect(StoredActorJson)
const decodeSnapshot = Schema.decodeUnknownEffect(StagedSnapshotJson)

/** True if the initial commit may be the next step: the check is in progress or has ended. */
const precedesCommit = (row: InstallPlanRow | undefined): row is InstallPlanRow =>
  row?.phase === "analyzing_compatibility" || row?.phase === "creating_capsule"

/**
 * The steps of an install. Each step starts work or collects its result. The row records completed steps; a step that is waiting
 * for a Run changes nothing.
 */
export class InstallPlanSteps extends Context.Service<
  InstallPlanSteps,
  {
    /** Takes the next step if it is due, in the caller's transaction. Returns `false` if the plan must wait or has ended. */
    readonly step: (id: InstallPlanId) => Effect.Effect<boolean>
    /**
     * Prepares everything that the steps in `work` must not wait for inside their transaction, and then runs `work`.
     */
    readonly prepared: (id: InstallPlanId) => <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  }
>()("svc/actors/commands/install-plan/InstallPlanSteps") {
  static readonly layer = Layer.effect(
    InstallPlanSteps,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const store = yield* InstallPlanStore
      const ledger = yield* RunLedger
      const queue = yield* RunQueue
      const killPoint = yield* KillPoint
      const results = yield* RunResults
      const initialCommit = yield* InitialCommit
      const adoption = yield* StateAdoption
      const databaseFile = yield* DatabaseFile
      const vault = yield* Vault

      const startSync = Effect.fnUntraced(function* (
        row: InstallPlanRow,
        request: StoredRequest,
        createdBy: string | undefined
      ) {
        const runId = derivedId(RunId, "run", row.id, "sync")
        const { source } = request
        yield* ledger.insert({
          id: runId,
          workspaceId: row.workspace_id,
          type: "source_sync",
          coordinator: { kind: "install_plan", id: row.id },
          createdBy,
          trigger: "user",
          spec: {
            url: source.url,
            ref: source.ref ?? "HEAD",
            path: source.path ?? ".",
            ...(source.authConnectionId === undefined ? {} : { authConnectionId: source.authConnectionId }),
            intent: "manual_plan"
          } satisfies SyncSpec
        })
        yield* store.update(row.id, { sync_run_id: runId })
        yield* sql.afterCommit(queue.wake)
      })

      const startCheck = Effect.fnUntraced(function* (
        row: InstallPlanRow,
        request: StoredRequest,
        createdBy: string | undefined
      ) {
        const staged = yield* results.load(row.sync_run_id)
        if (staged === undefined) return yield* Effect.die(new Error(`The snapshot of ${row.id} is gone`))
        const snapshot = yield* Effect.orDie(decodeSnapshot(staged))
        const runId = derivedId(RunId, "run", row.id, "check")
        yield* ledger.insert({
          id: runId,
          workspaceId: row.workspace_id,
          type: "compatibility_check",
          coordinator: { kind: "install_plan", id: row.id },
          resolvedCommit: snapshot.resolvedCommit,
          createdBy,
          trigger: "user",
          spec: {
            sourceId: derivedId(SourceId, "src", row.id, "source"),
            snapshot,
            ...(request.options?.modulePath === undefined ? {} : { modulePath: request.options.modulePath })
          } satisfies CheckSpec
        })
        yield* store.update(row.id, { check_run_id: runId, phase: "analyzing_compatibility" })
        yield* sql.afterCommit(queue.wake)
      })

      const take = Effect.fnUntraced(function* (id: InstallPlanId) {
        const row = yield* store.find(id)
        if (row === undefined) return false
        const request = yield* Effect.orDie(decodeRequest(row.request))
        const context = yield* Effect.orDie(decodeActor(row.actor))
        switch (row.phase) {
          case "syncing_source": {
            if (row.sync_run_id === null) {
              yield* startSync(row, request, context.actor.subject)
              return true
            }
            const run = yield* ledger.find(row.sync_run_id)
            const next = stepAfterJob(run)
            if (run === undefined || next === "wait") return false
            if (next === "fail") yield* store.fail(id, failuresOf(run, "source sync"))
            else yield* startCheck(row, request, context.actor.subject)
            return true
          }
          case "analyzing_compatibility": {
            const run = yield* ledger.find(row.check_run_id)
            const next = stepAfterJob(run)
            if (run === undefined || next === "wait") return false
            if (next === "fail") yield* store.fail(id, failuresOf(run, "compatibility check"))
            else yield* store.update(id, { phase: "creating_capsule" })
            return true
          }
          case "creating_capsule": {
            yield* initialCommit.commit(row, request, context).pipe(
              Effect.catchTag("InstallRefused", ({ diagnostics }) => store.fail(id, diagnostics)),
              // Uses a savepoint to discard everything written before a fault. Records the fault, because another attempt
              // would fail again.
              transaction(sql),
              orOnIntegrityFault(() => store.fail(id, [{ severity: "error", ...integrityFault }]))
            )
            // Also erases the private values from the write-ahead log, once the row no longer contains them.
            yield* sql.afterCommit(Effect.ignore(databaseFile.checkpoint))
            return true
          }
          case "planning": {
            const run = yield* ledger.find(row.plan_run_id)
            const next = stepAfterPlan(run)
            if (run === undefined || next === "wait") return false
            if (next === "advance") yield* store.update(id, { phase: "reviewable" })
            else yield* store.fail(id, [...failuresOf(run, "plan"), ...FindingsJson.read(row.diagnostics)])
            return true
          }
          case "reviewable":
          case "failed":
            return false
        }
      })

      const step = Effect.fn("InstallPlan.step")(function* (id: InstallPlanId) {
        yield* killPoint("install.stepping")
        const stepped = yield* take(id)
        if (stepped) yield* killPoint("install.stepped")
        return stepped
      })

      /**
       * Returns true if the next step may be an initial commit that takes over a state.
       */
      const adopts = Effect.fnUntraced(function* (row: InstallPlanRow | undefined) {
        if (!precedesCommit(row)) return false
        return (yield* Effect.orDie(decodeRequest(row.request))).adopt !== undefined
      })

      const prepared =
        (id: InstallPlanId) =>
        <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
          Effect.gen(function* () {
            const row = yield* store.find(id)
            // The initial commit seals the Source's webhook secret and the variable values.
            if (precedesCommit(row)) yield* vault.prepare(row.workspace_id, ["sources", "install_configs"])
            return yield* row !== undefined && (yield* adopts(row)) ? adoption.withReading(row, work) : work
          })

      return InstallPlanSteps.of({ step, prepared })
    })
  )
}
