import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { coordinatorUnderWay } from "../../../schema/tables/PlanTables.ts"
import { ApiError, failedPrecondition } from "../../../schema/errors/ApiError.ts"
import { RunLedger } from "../run/RunLedger.ts"
import { refuseConflictingRun } from "../capsule/ConflictingRuns.ts"
import { CapsuleLedger } from "../capsule/CapsuleLedger.ts"
import type { GuardedCapsuleRow } from "../capsule/CapsuleRow.ts"
import { InstallConfigStore, type NewInstallConfig } from "./InstallConfigStore.ts"
import { isInService } from "../../../schema/records/CapsuleLifecycle.ts"
import { rowShape } from "../../base/database/Table.ts"
import { RevisionPlanId } from "../../../schema/records/Ids.ts"

// Declares only the id, because the RevisionPlan model is in a higher layer.
const OpenRevision = rowShape({ id: RevisionPlanId })

export const guardMoved = () =>
  new ApiError({
    code: "guard_conflict",
    message: "The Capsule has changed since its guard was read. Read the Capsule again and repeat with its new guard."
  })

/** Replaces a Capsule's configuration: inserts the successor, and moves the pointer and the epoch in one compare-and-set. */
export class ConfigSuccession extends Context.Service<
  ConfigSuccession,
  {
    /** Fails while a plan or apply is in progress under the current authority. */
    readonly idle: (capsule: GuardedCapsuleRow) => Effect.Effect<void, ApiError>
    /** Fails while a revision plan of the Capsule is in progress. */
    readonly noRevision: (capsule: GuardedCapsuleRow) => Effect.Effect<void, ApiError>
    /**
     * Replaces the configuration, voids every plan made under the previous authority, and returns the updated Capsule. Runs in
     * the caller's transaction.
     */
    readonly succeed: (
      capsule: GuardedCapsuleRow,
      successor: NewInstallConfig
    ) => Effect.Effect<GuardedCapsuleRow, ApiError>
  }
>()("svc/actors/ledger/configuration/ConfigSuccession") {
  static readonly layer = Layer.effect(
    ConfigSuccession,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const capsules = yield* CapsuleLedger
      const configs = yield* InstallConfigStore
      const ledger = yield* RunLedger

      const idle = Effect.fnUntraced(function* (capsule: GuardedCapsuleRow) {
        if (!isInService(capsule.status)) {
          return yield* failedPrecondition(`The Capsule is ${capsule.status}.`)
        }
        yield* Effect.provideService(
          refuseConflictingRun(capsule.id, ({ type }) => type !== "drift_check"),
          RunLedger,
          ledger
        )
        yield* noRevision(capsule)
      })

      const noRevision = Effect.fnUntraced(function* (capsule: GuardedCapsuleRow) {
        const revisions = yield* Effect.orDie(OpenRevision.rows(sql)`SELECT id FROM revision_plans
          WHERE capsule_id = ${capsule.id} AND ${sql.literal(coordinatorUnderWay)}`)
        if (revisions[0] !== undefined) {
          return yield* new ApiError({
            code: "run_conflict",
            message: `The revision plan ${revisions[0].id} of this Capsule is under way.`
          })
        }
      })

      const succeed = Effect.fn("ConfigSuccession.succeed")(function* (
        capsule: GuardedCapsuleRow,
        successor: NewInstallConfig
      ) {
        yield* configs.insert({ ...successor, capsuleId: capsule.id, predecessorId: capsule.install_config_id })
        const moved = yield* capsules.fence(capsule, {
          install_config_id: successor.id,
          execution_authority_epoch: capsule.execution_authority_epoch + 1
        })
        if (!moved) return yield* guardMoved()
        yield* ledger.supersedePlans(capsule.id, "The configuration has changed.")
        const after = yield* capsules.find(capsule.id)
        return after ?? (yield* Effect.die(new Error(`Capsule ${capsule.id} vanished inside its own transaction`)))
      })

      return ConfigSuccession.of({ idle, noRevision, succeed })
    })
  )
}
