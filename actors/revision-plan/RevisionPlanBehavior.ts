import { Effect, Result, Schema } from "effect"
import { Entity } from "effect/cluster"
import { SqlClient } from "effect/sql"
import { parseGitRef } from "../../runner/git/GitRef.ts"
import { failedPrecondition, invalidRequest, notFound } from "../../schema/errors/ApiError.ts"
import { CommandContext } from "../../schema/protocol/Command.ts"
import { RevisionPlanActor } from "../../schema/protocol/PlanActors.ts"
import { actorOptions, handedOver } from "../ActorClient.ts"
import { Audit } from "../audit/Audit.ts"
import { CapsuleLedger } from "../capsule/CapsuleLedger.ts"
import { transaction } from "../database/Transaction.ts"
import { Receipts } from "../idempotency/Receipts.ts"
import { RunAdmission } from "../run/RunAdmission.ts"
import { RevisionPlanSteps } from "./RevisionPlanSteps.ts"
import { RevisionPlanStore, toRevisionPlan } from "./RevisionPlanStore.ts"

const encodeActor = Schema.encodeEffect(Schema.fromJsonString(CommandContext))

/** The revision coordinator: created once per key, then stepped by hand-overs and by whoever asks. */
export const layer = RevisionPlanActor.toLayer(
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const store = yield* RevisionPlanStore
    const steps = yield* RevisionPlanSteps
    const capsules = yield* CapsuleLedger
    const receipts = yield* Receipts
    const audit = yield* Audit
    const admission = yield* RunAdmission
    const client = yield* RevisionPlanActor.client
    const { entityId: id } = yield* Entity.CurrentAddress

    const load = Effect.gen(function* () {
      const row = yield* store.find(id)
      return row === undefined ? yield* notFound("Revision plan") : toRevisionPlan(row)
    })

    return RevisionPlanActor.of({
      Create: Effect.fn("RevisionPlan.Create")(function* ({ payload: { context, capsuleId, ref, idempotency } }) {
        const capsule = yield* capsules.find(capsuleId)
        if (capsule === undefined) return yield* notFound("Capsule")
        const create = Effect.gen(function* () {
          const parsed = parseGitRef(ref)
          if (Result.isFailure(parsed)) return yield* invalidRequest(`ref: ${parsed.failure.message}`)
          if (capsule.status === "destroyed" || capsule.status === "disabled") {
            return yield* failedPrecondition(`The Capsule is ${capsule.status}.`)
          }
          yield* admission.admit({ workspaceId: capsule.workspace_id, type: "source_sync", trigger: "user" })
          yield* store.insert({
            id,
            workspace_id: capsule.workspace_id,
            capsule_id: capsuleId,
            ref,
            phase: "syncing_source",
            actor: yield* Effect.orDie(encodeActor(context)),
            execution_authority_epoch: capsule.execution_authority_epoch,
            diagnostics: "[]"
          })
          yield* audit.append({
            workspaceId: capsule.workspace_id,
            actor: context.actor,
            action: "revision_plan.create",
            target: { kind: "capsule", id: capsuleId },
            capsuleId,
            data: { ref },
            requestId: context.requestId
          })
          yield* handedOver(client(id).Advance({ cause: "created" }, { discard: true }))
          return { value: yield* load, receipt: { resultId: id, firstStatus: 201 } }
        })
        return yield* receipts.once(
          { scope: capsule.workspace_id, actor: context.actorKey, route: `revisionPlans.create ${capsuleId}` },
          idempotency,
          { create, replay: () => load }
        )
      }),

      Reconcile: Effect.fn("RevisionPlan.Reconcile")(function* () {
        yield* load
        yield* steps.step(id)
        return yield* load
      }, transaction(sql)),

      Advance: Effect.fn("RevisionPlan.Advance")(function* () {
        while (yield* steps.step(id)) yield* Effect.void
      })
    })
  }),
  actorOptions
)
