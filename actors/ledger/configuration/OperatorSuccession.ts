import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type ApiError, failedPrecondition } from "../../../schema/errors/ApiError.ts"
import { InstallConfigId, type RunId } from "../../../schema/records/Ids.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { derivedId } from "../../base/Identity.ts"
import { RunLedger } from "../run/RunLedger.ts"
import type { RunRow } from "../run/RunRow.ts"
import { SourceStore } from "../source/SourceStore.ts"
import { CapsuleRow, type GuardedCapsuleRow } from "../capsule/CapsuleRow.ts"
import { ConfigSuccession } from "./ConfigSuccession.ts"
import { bindingsOf } from "./StoredBindings.ts"
import { derivedConfig } from "./DerivedConfig.ts"
import { InstallConfigStore, type LoadedInstallConfig } from "./InstallConfigStore.ts"
import { baseMoved, operatorMoved, type SnapshotPlace } from "./OperatorAuthority.ts"
import { OperatorConfigs } from "./OperatorConfigs.ts"
import { marked } from "./VariableRules.ts"
import { providedService } from "../../base/Provided.ts"

/**
 * Recompiles Capsule configurations when the operator changes a base configuration, so that every new plan uses the current one.
 */
export class OperatorSuccession extends Context.Service<
  OperatorSuccession,
  {
    /** Returns the snapshot location that selects this configuration's base configuration. */
    readonly placeOf: (config: LoadedInstallConfig) => Effect.Effect<SnapshotPlace | undefined>
    /** Returns true if the base configuration has changed, so that `follow` would give the Capsule a successor configuration. */
    readonly isBehind: (config: LoadedInstallConfig) => Effect.Effect<boolean>
    /**
     * Called when a plan starts, in the caller's transaction. If the base configuration has changed, gives the Capsule a
     * successor configuration compiled from the new base, and returns the updated Capsule. Returns `undefined` if nothing has
     * changed. Fails if the module cannot be configured with the new base.
     */
    readonly follow: (
      capsule: GuardedCapsuleRow,
      config: LoadedInstallConfig,
      runId: RunId
    ) => Effect.Effect<GuardedCapsuleRow | undefined, ApiError>
    /** Returns the reason why later operator changes void this plan, or `undefined` if the plan can be applied. */
    readonly planMoved: (capsule: CapsuleRow, plan: RunRow) => Effect.Effect<string | undefined>
    /** Voids every unapplied plan whose operator settings have changed. Returns the number of voided plans. */
    readonly supersedeMoved: Effect.Effect<number>
  }
>()("svc/actors/ledger/configuration/OperatorSuccession") {
  static readonly layer = Layer.effect(
    OperatorSuccession,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const store = yield* SourceStore
      const configs = yield* InstallConfigStore
      const succession = yield* ConfigSuccession
      const ledger = yield* RunLedger
      const audit = yield* Audit
      const operator = yield* OperatorConfigs

      const placeOf = (config: LoadedInstallConfig) => store.findSnapshot(config.row.source_snapshot_id)

      const movedFrom = (config: LoadedInstallConfig, snapshot: SnapshotPlace | undefined) =>
        snapshot !== undefined && baseMoved(operator, config.config, snapshot, config.row.module_path)

      const isBehind = (config: LoadedInstallConfig) => Effect.map(placeOf(config), (place) => movedFrom(config, place))

      const follow = Effect.fn("OperatorSuccession.follow")(function* (
        capsule: GuardedCapsuleRow,
        config: LoadedInstallConfig,
        runId: RunId
      ) {
        const snapshot = yield* placeOf(config)
        if (snapshot === undefined || !movedFrom(config, snapshot)) return undefined
        const report = yield* store.findReport(config.row.compatibility_report_id)
        if (report === undefined) {
          return yield* failedPrecondition(
            "The compatibility report of the configuration is gone. Re-adopt the Capsule."
          )
        }
        const derived = yield* derivedConfig(config, snapshot, report)
        const former = new Set(config.config.operator?.variables)
        const given = Object.entries(yield* configs.values(config.row)).filter(([name]) => !former.has(name))
        const values = { ...Object.fromEntries(given), ...derived.operatorValues }
        // Uses a derived id, so that a second attempt at the same Run finds the first attempt's configuration.
        const id = derivedId(InstallConfigId, "icfg", runId, `operator ${derived.config.operator?.digest ?? "none"}`)
        const after = yield* succession.succeed(capsule, {
          id,
          workspaceId: capsule.workspace_id,
          origin: derived.origin,
          modulePath: config.row.module_path,
          sourceSnapshotId: config.row.source_snapshot_id ?? undefined,
          compatibilityReportId: derived.compatibilityReportId,
          contractDigest: derived.contractDigest,
          config: { ...derived.config, variables: marked(derived.config.variables, values) },
          values,
          bindings: yield* bindingsOf(config.row.id)
        })
        yield* audit.append({
          workspaceId: capsule.workspace_id,
          actor: { kind: "service" },
          action: "capsule.follow_operator",
          target: { kind: "capsule", id: capsule.id },
          capsuleId: capsule.id,
          runId,
          data: {
            previousInstallConfigId: config.row.id,
            targetInstallConfigId: id,
            baseConfigDigest: derived.config.operator?.digest ?? null
          }
        })
        return after
      })

      const planMoved = Effect.fnUntraced(function* (capsule: CapsuleRow, plan: RunRow) {
        // A restore executes nothing, so operator changes do not matter. The plan that must follow the restore uses the
        // settings that are in effect when it is created.
        if (plan.type === "restore") return undefined
        const config = yield* configs.load(plan.install_config_id)
        const place = config === undefined ? undefined : yield* placeOf(config)
        return config === undefined || place === undefined
          ? undefined
          : operatorMoved(operator, plan, config.config, place, capsule.module_path)
      })

      const supersedeMoved = ledger
        .supersedeWhere((plan) =>
          Effect.gen(function* () {
            const [capsule] = yield* Effect.orDie(
              CapsuleRow.rows(sql)`SELECT * FROM capsules WHERE id = ${plan.capsule_id}`
            )
            return capsule === undefined ? undefined : yield* planMoved(capsule, plan)
          })
        )
        .pipe(Effect.withSpan("OperatorSuccession.supersedeMoved"))

      return yield* providedService(OperatorSuccession, { placeOf, isBehind, follow, planMoved, supersedeMoved })
    })
  )
}
