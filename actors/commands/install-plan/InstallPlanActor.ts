import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { GitPolicy } from "../../../runner/git/GitPolicy.ts"
import { notFound } from "../../../schema/errors/ApiError.ts"
import { InstallPlanCommands } from "../../../schema/commands/InstallPlanCommands.ts"
import { actorLayer, commandsTo, handle } from "../../Actor.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { StateAdoption } from "../adoption/StateAdoption.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import { InstallConfigStore } from "../../ledger/configuration/InstallConfigStore.ts"
import { ConnectionStore } from "../../inputs/connection/ConnectionStore.ts"
import { ConnectionUses } from "../../inputs/connection/ConnectionUses.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { rowShape } from "../../base/database/Table.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { DueWork } from "../../base/DueWork.ts"
import { RunHandover } from "../../running/execution/RunHandover.ts"
import { Receipts } from "../../base/idempotency/Receipts.ts"
import { KillPoint } from "../../base/KillPoint.ts"
import { RunAdmission } from "../../running/queue/RunAdmission.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { SourceStore } from "../../ledger/source/SourceStore.ts"
import { StateUploads } from "../../ledger/state/StateUploads.ts"
import { StateVersions } from "../../ledger/state/StateVersions.ts"
import { checkInstallRequest } from "./InstallPlanRequest.ts"
import { readInstallPlan, StoredActorJson, StoredRequestJson } from "./InstallPlanRow.ts"
import { InstallPlanSteps } from "./InstallPlanSteps.ts"
import { InstallPlanStore } from "./InstallPlanStore.ts"
import { InstallPlanId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { captureServices, provideCaptured } from "../../CapturedServices.ts"

const encodeRequest = Schema.encodeEffect(StoredRequestJson)
const encodeActor = Schema.encodeEffect(StoredActorJson)

/** A plan whose first step, or the step after the end of one of its Runs, is due. */
const DuePlan = rowShape({ id: InstallPlanId, workspace_id: WorkspaceId })

/** The install coordinator: created once per key, then advanced as its Runs end, and by requests. */
export const layer = actorLayer(
  InstallPlanCommands,
  InstallPlanId,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const store = yield* InstallPlanStore
    const steps = yield* InstallPlanSteps
    const receipts = yield* Receipts
    const uploads = yield* StateUploads
    const audit = yield* Audit
    const admission = yield* RunAdmission
    const killPoint = yield* KillPoint
    const services = yield* captureServices(
      CapsuleLedger,
      ConnectionStore,
      ConnectionUses,
      GitPolicy,
      InstallConfigStore,
      RunLedger,
      SourceStore,
      SqlClient.SqlClient,
      StateAdoption,
      StateVersions
    )
    const due = yield* DueWork
    const read = yield* ReadSql
    const handover = yield* RunHandover
    const send = yield* commandsTo(InstallPlanCommands)
    yield* due.serve({
      kind: "install_plan",
      due: Effect.orDie(DuePlan.rows(read)`SELECT id, workspace_id FROM install_plans
          WHERE phase = 'syncing_source' AND sync_run_id IS NULL
        UNION SELECT r.coordinator_id, r.workspace_id FROM run_follow_due d JOIN runs r ON r.id = d.run_id
          WHERE r.coordinator_kind = 'install_plan' ORDER BY id`),
      step: ({ id }) => send(id, "Advance", undefined)
    })

    return (id: InstallPlanId) => {
      const load = Effect.gen(function* () {
        const row = yield* store.find(id)
        return row === undefined ? yield* notFound("Install plan") : yield* readInstallPlan(sql, row)
      })

      return handle(InstallPlanCommands, {
        Create: Effect.fnUntraced(
          function* ({ payload: { context, workspaceId, request, idempotency } }) {
            const create = Effect.gen(function* () {
              const columns = yield* checkInstallRequest(workspaceId, request, context)
              yield* admission.admit({ workspaceId, type: "source_sync", trigger: "user" })
              const { variables = {}, ...publicRequest } = request
              if (request.adopt !== undefined) yield* uploads.claim(workspaceId, request.adopt, id)
              yield* store.insert({
                id,
                workspaceId,
                request: yield* Effect.orDie(encodeRequest(publicRequest)),
                actor: yield* Effect.orDie(encodeActor(context)),
                values: variables,
                columns
              })
              yield* audit.append({
                workspaceId,
                actor: context.actor,
                action: "install_plan.create",
                target: { kind: "install_plan", id },
                data: { capsule: request.capsule.name, environment: request.capsule.environment },
                requestId: context.requestId
              })
              yield* sql.afterCommit(due.wake)
              return { value: yield* load, receipt: { resultId: id, firstStatus: 201 } }
            })
            return yield* receipts.once(
              { scope: workspaceId, actor: context.actorKey, route: "installPlans.create" },
              idempotency,
              { create, replay: () => load }
            )
          },
          Effect.tap(() => killPoint("install.created")),
          provideCaptured(services)
        ),

        Reconcile: () =>
          Effect.gen(function* () {
            yield* load
            yield* steps.step(id)
            return yield* load
          }).pipe(transaction(sql), steps.prepared(id)),

        // Takes every step that is due, so that the service advances without polling.
        Advance: () =>
          Effect.gen(function* () {
            yield* handover.coordinatorFollowed(id)
            while (yield* steps.step(id)) yield* Effect.void
          }).pipe(transaction(sql), steps.prepared(id))
      })
    }
  })
)
