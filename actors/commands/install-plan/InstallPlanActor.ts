import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { notFound } from "../../../schema/errors/ApiError.ts"
import { InstallPlanCommands } from "../../../schema/commands/InstallPlanCommands.ts"
import { serve } from "../../Actor.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { rowShape } from "../../base/database/Table.ts"
import { transacted } from "../../base/database/Transaction.ts"
import { DueWork } from "../../base/DueWork.ts"
import { RunHandover } from "../../running/execution/RunHandover.ts"
import { Receipts } from "../../base/idempotency/Receipts.ts"
import { KillPoint } from "../../base/KillPoint.ts"
import { RunAdmission } from "../../running/queue/RunAdmission.ts"
import { StateUploads } from "../../ledger/state/StateUploads.ts"
import { checkInstallRequest } from "./InstallPlanRequest.ts"
import { readInstallPlan, StoredActorJson, StoredRequestJson } from "./InstallPlanRow.ts"
import { InstallPlanSteps } from "./InstallPlanSteps.ts"
import { InstallPlanStore } from "./InstallPlanStore.ts"
import { InstallPlanId, WorkspaceId } from "../../../schema/records/Ids.ts"

const encodeRequest = Schema.encodeEffect(StoredRequestJson)
const encodeActor = Schema.encodeEffect(StoredActorJson)

/** A plan whose first step is due, or whose next step is due because a Run has ended. */
const DuePlan = rowShape({ id: InstallPlanId, workspace_id: WorkspaceId })

const load = Effect.fnUntraced(function* (id: InstallPlanId) {
  const row = yield* (yield* InstallPlanStore).find(id)
  return row === undefined ? yield* notFound("Install plan") : yield* readInstallPlan(yield* SqlClient.SqlClient, row)
})

/** The install coordinators. Each is created once per key, and continues when its Runs end or a request arrives. */
const actors = serve(InstallPlanCommands, {
  Create: Effect.fnUntraced(
    function* (id, { context, workspaceId, request, idempotency }) {
      const create = Effect.gen(function* () {
        const columns = yield* checkInstallRequest(workspaceId, request, context)
        yield* (yield* RunAdmission).admit({ workspaceId, type: "source_sync", trigger: "user" })
        const { variables = {}, ...publicRequest } = request
        if (request.adopt !== undefined) yield* (yield* StateUploads).claim(workspaceId, request.adopt, id)
        yield* (yield* InstallPlanStore).insert({
          id,
          workspaceId,
          request: yield* Effect.orDie(encodeRequest(publicRequest)),
          actor: yield* Effect.orDie(encodeActor(context)),
          values: variables,
          columns
        })
        yield* (yield* Audit).append({
          workspaceId,
          actor: context.actor,
          action: "install_plan.create",
          target: { kind: "install_plan", id },
          data: { capsule: request.capsule.name, environment: request.capsule.environment },
          requestId: context.requestId
        })
        yield* (yield* SqlClient.SqlClient).afterCommit((yield* DueWork).wake)
        return { value: yield* load(id), receipt: { resultId: id, firstStatus: 201 } }
      })
      return yield* (yield* Receipts).once(
        { scope: workspaceId, actor: context.actorKey, route: "installPlans.create" },
        idempotency,
        { create, replay: () => load(id) }
      )
    },
    Effect.tap(() => KillPoint.use((killPoint) => killPoint("install.created")))
  ),

  Reconcile: Effect.fnUntraced(function* (id) {
    const steps = yield* InstallPlanSteps
    return yield* Effect.gen(function* () {
      yield* load(id)
      yield* steps.step(id)
      return yield* load(id)
    }).pipe(transacted, steps.prepared(id))
  }),

  Advance: Effect.fnUntraced(function* (id) {
    const steps = yield* InstallPlanSteps
    yield* Effect.gen(function* () {
      yield* (yield* RunHandover).coordinatorFollowed(id)
      while (yield* steps.step(id)) yield* Effect.void
    }).pipe(transacted, steps.prepared(id))
  })
})

const dueWork = Layer.effectDiscard(
  Effect.gen(function* () {
    const due = yield* DueWork
    const read = yield* ReadSql
    const plans = yield* InstallPlanCommands
    yield* due.serve({
      kind: "install_plan",
      due: Effect.orDie(DuePlan.rows(read)`SELECT id, workspace_id FROM install_plans
          WHERE phase = 'syncing_source' AND sync_run_id IS NULL
        UNION SELECT r.coordinator_id, r.workspace_id FROM run_follow_due d JOIN runs r ON r.id = d.run_id
          WHERE r.coordinator_kind = 'install_plan' ORDER BY id`),
      step: ({ id }) => plans.Advance(id)
    })
  })
)

export const layer = Layer.merge(actors, dueWork)
