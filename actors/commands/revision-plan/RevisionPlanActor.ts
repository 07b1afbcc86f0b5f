import { Effect, Layer, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { parseGitRef } from "../../../schema/git/GitRef.ts"
import { failedPrecondition, invalidRequest, notFound } from "../../../schema/errors/ApiError.ts"
import { CommandContext } from "../../../schema/commands/Command.ts"
import { RevisionPlanCommands } from "../../../schema/commands/RevisionPlanCommands.ts"
import { serve } from "../../Actor.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { capsuleSite, checkUses } from "../../running/execution/CapsuleConnections.ts"
import { openForRef } from "../../running/execution/ReviewedRefs.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import type { GuardedCapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { InstallConfigStore } from "../../ledger/configuration/InstallConfigStore.ts"
import type { UseStarter } from "../../inputs/connection/ConnectionUses.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { rowShape } from "../../base/database/Table.ts"
import { transacted } from "../../base/database/Transaction.ts"
import { DueWork } from "../../base/DueWork.ts"
import { RunHandover } from "../../running/execution/RunHandover.ts"
import { Receipts } from "../../base/idempotency/Receipts.ts"
import { RunAdmission } from "../../running/queue/RunAdmission.ts"
import { checkGitUse } from "../../inputs/git/GitConnectionUse.ts"
import { SourceStore } from "../../ledger/source/SourceStore.ts"
import { RevisionPlanSteps } from "./RevisionPlanSteps.ts"
import { readRevisionPlan, RevisionPlanStore } from "./RevisionPlanStore.ts"
import { isInService } from "../../../schema/records/CapsuleLifecycle.ts"
import type { SourceRow } from "../../ledger/source/SourceRow.ts"
import { RevisionPlanId, WorkspaceId } from "../../../schema/records/Ids.ts"

const encodeActor = Schema.encodeEffect(Schema.fromJsonString(CommandContext))

/** A plan with a step that is due: its first step, or the next step after a Run that has ended. */
const DuePlan = rowShape({ id: RevisionPlanId, workspace_id: WorkspaceId })

const load = Effect.fnUntraced(function* (id: RevisionPlanId) {
  const row = yield* (yield* RevisionPlanStore).find(id)
  return row === undefined ? yield* notFound("Revision plan") : yield* readRevisionPlan(yield* SqlClient.SqlClient, row)
})

/** Checks the permission before anything is fetched. Each Run checks it again. */
const mayPlan = Effect.fnUntraced(function* (
  capsule: GuardedCapsuleRow,
  source: SourceRow | undefined,
  ref: string,
  starter: UseStarter
) {
  if (source === undefined) return yield* Effect.die(new Error(`The Source of ${capsule.id} is gone`))
  const place = { url: source.url, ref, path: capsule.tracked_path }
  yield* checkGitUse(source.auth_connection_id, starter, { ...place, workspaceId: capsule.workspace_id, source })
  const bound = yield* (yield* InstallConfigStore).bindings(capsule.install_config_id)
  const site = yield* capsuleSite(capsule, source, place)
  yield* checkUses(
    bound.map(({ connection_id }) => connection_id),
    starter,
    site
  )
  yield* openForRef({ capsule, source, site, starter, configId: capsule.install_config_id, isInstall: false })
})

/** The revision coordinators. Each is created once per key, and continues when its Runs end or a request arrives. */
const actors = serve(RevisionPlanCommands, {
  Create: Effect.fnUntraced(function* (id, { context, capsuleId, ref: given, speculative, idempotency }) {
    const capsuleOf = Effect.gen(function* () {
      const capsule = yield* (yield* CapsuleLedger).find(capsuleId)
      return capsule === undefined ? yield* notFound("Capsule") : capsule
    })
    const create = Effect.gen(function* () {
      // Reads the Capsule inside the transaction, because commands to the Capsule do not wait for this actor.
      const capsule = yield* capsuleOf
      const parsed = parseGitRef(given)
      if (Result.isFailure(parsed)) return yield* invalidRequest(`ref: ${parsed.failure}`)
      const ref = parsed.success
      if (!isInService(capsule.status)) {
        return yield* failedPrecondition(`The Capsule is ${capsule.status}.`)
      }
      const source = yield* (yield* SourceStore).find(capsule.source_id)
      yield* mayPlan(capsule, source, ref, { subject: context.actor.subject, automatic: false })
      yield* (yield* RunAdmission).admit({ workspaceId: capsule.workspace_id, type: "source_sync", trigger: "user" })
      yield* (yield* RevisionPlanStore).insert({
        id,
        workspace_id: capsule.workspace_id,
        capsule_id: capsuleId,
        ref,
        speculative: speculative === true ? 1 : 0,
        phase: "syncing_source",
        actor: yield* Effect.orDie(encodeActor(context)),
        execution_authority_epoch: capsule.execution_authority_epoch,
        diagnostics: "[]"
      })
      yield* (yield* Audit).append({
        workspaceId: capsule.workspace_id,
        actor: context.actor,
        action: "revision_plan.create",
        target: { kind: "capsule", id: capsuleId },
        capsuleId,
        data: { ref, ...(speculative === true ? { speculative } : {}) },
        requestId: context.requestId
      })
      yield* (yield* SqlClient.SqlClient).afterCommit((yield* DueWork).wake)
      return { value: yield* load(id), receipt: { resultId: id, firstStatus: 201 } }
    })
    return yield* (yield* Receipts).once(
      {
        scope: (yield* capsuleOf).workspace_id,
        actor: context.actorKey,
        route: `revisionPlans.create ${capsuleId}`
      },
      idempotency,
      { create, replay: () => load(id) }
    )
  }),

  Reconcile: Effect.fnUntraced(function* (id) {
    yield* load(id)
    yield* (yield* RevisionPlanSteps).step(id)
    return yield* load(id)
  }, transacted),

  Advance: Effect.fnUntraced(function* (id) {
    yield* (yield* RunHandover).coordinatorFollowed(id)
    while (yield* (yield* RevisionPlanSteps).step(id)) yield* Effect.void
  }, transacted)
})

const dueWork = Layer.effectDiscard(
  Effect.gen(function* () {
    const due = yield* DueWork
    const read = yield* ReadSql
    const plans = yield* RevisionPlanCommands
    yield* due.serve({
      kind: "revision_plan",
      due: Effect.orDie(DuePlan.rows(read)`SELECT id, workspace_id FROM revision_plans
          WHERE phase = 'syncing_source' AND sync_run_id IS NULL
        UNION SELECT r.coordinator_id, r.workspace_id FROM run_follow_due d JOIN runs r ON r.id = d.run_id
          WHERE r.coordinator_kind = 'revision_plan' ORDER BY id`),
      step: ({ id }) => plans.Advance(id)
    })
  })
)

export const layer = Layer.merge(actors, dueWork)
