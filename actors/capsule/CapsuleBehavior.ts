import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { Entity } from "effect/cluster"
import { SqlClient } from "effect/sql"
import { notFound } from "../../schema/errors/ApiError.ts"
import { RunId } from "../../schema/records/Ids.ts"
import { CapsuleActor } from "../../schema/protocol/CapsuleActor.ts"
import { actorOptions } from "../ActorClient.ts"
import { Audit } from "../audit/Audit.ts"
import { ConnectionStore } from "../connection/ConnectionStore.ts"
import { Receipts } from "../idempotency/Receipts.ts"
import { derivedId } from "../Identity.ts"
import { RunLedger } from "../run/RunLedger.ts"
import { RunQueue } from "../run/RunQueue.ts"
import { SourceStore } from "../source/SourceStore.ts"
import { Vault } from "../vault/Vault.ts"
import { CapsuleLedger } from "./CapsuleLedger.ts"
import { CapsuleRuns } from "./CapsuleRuns.ts"
import { ConfigSuccession } from "./ConfigSuccession.ts"
import { configurationPlan } from "./ConfigurationPlan.ts"
import { InstallConfigStore } from "./InstallConfigStore.ts"
import { removeUnapplied, updateCapsule } from "./LifecycleCommands.ts"
import { applyPlan, createRun, rollbackPlan } from "./PlanCommands.ts"
import { reAdopt } from "./ReAdoption.ts"
import { StateVersions } from "./StateVersions.ts"

/** The Capsule actor: every change of one Capsule's authority passes here, one at a time. */
export const layer = CapsuleActor.toLayer(
  Effect.gen(function* () {
    const capsules = yield* CapsuleLedger
    const runs = yield* CapsuleRuns
    const ledger = yield* RunLedger
    const services = yield* Effect.context<
      | Audit
      | CapsuleLedger
      | CapsuleRuns
      | ConfigSuccession
      | ConnectionStore
      | InstallConfigStore
      | Receipts
      | RunLedger
      | RunQueue
      | SecureRandom.SecureRandom
      | SourceStore
      | SqlClient.SqlClient
      | StateVersions
      | Vault
    >()
    const { entityId: id } = yield* Entity.CurrentAddress

    const load = Effect.gen(function* () {
      const row = yield* capsules.find(id)
      return row === undefined ? yield* notFound("Capsule") : row
    })

    return CapsuleActor.of({
      Plan: ({ payload: { context, idempotency, groupId } }) =>
        createRun(load, context, { type: "plan", runGroupId: groupId }, idempotency).pipe(
          Effect.provideContext(services)
        ),
      DestroyPlan: ({ payload: { context, idempotency } }) =>
        createRun(load, context, { type: "destroy_plan" }, idempotency).pipe(Effect.provideContext(services)),
      DriftCheck: ({ payload: { context, groupId } }) =>
        createRun(load, context, { type: "drift_check", runGroupId: groupId }, undefined).pipe(
          Effect.map(({ value }) => value),
          Effect.provideContext(services)
        ),
      RollbackPlan: ({ payload: { context, stateVersionId } }) =>
        rollbackPlan(load, context, stateVersionId).pipe(Effect.provideContext(services)),
      Apply: ({ payload: { context, planRunId, idempotency } }) =>
        applyPlan(load, context, planRunId, idempotency).pipe(Effect.provideContext(services)),
      Update: ({ payload: { context, ...request } }) =>
        updateCapsule(load, context, request).pipe(Effect.provideContext(services)),
      Remove: Effect.fn("Capsule.Remove")(function* ({ payload: { context } }) {
        const capsule = yield* load
        if (capsule.current_state_version_id === null && capsule.runtime_safety === "safe") {
          return yield* removeUnapplied(load, context)
        }
        return { run: (yield* createRun(load, context, { type: "destroy_plan" }, undefined)).value }
      }, Effect.provideContext(services)),
      ConfigurationPlan: ({ payload: { context, request, idempotency } }) =>
        configurationPlan(id, context, request, idempotency, load).pipe(Effect.provideContext(services)),
      ReAdopt: ({ payload: { context, request, idempotency } }) =>
        reAdopt(id, context, request, idempotency, load).pipe(Effect.provideContext(services)),
      FollowLane: Effect.fn("Capsule.FollowLane")(function* ({ payload: { sourceSnapshotId } }) {
        const capsule = yield* capsules.find(id)
        if (capsule === undefined || capsule.auto_update_enabled !== 1 || capsule.status !== "stale") return
        const runId = derivedId(RunId, "run", id, `follow ${sourceSnapshotId}`)
        if ((yield* ledger.find(runId)) !== undefined) return
        yield* Effect.ignore(runs.create(capsule, { runId, type: "plan", sourceSnapshotId, trigger: "auto_update" }))
      })
    })
  }),
  actorOptions
)
