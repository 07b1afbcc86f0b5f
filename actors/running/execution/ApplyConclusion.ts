import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Lifecycle } from "../../../schema/policy/PostApplyCheck.ts"
import type { PostApplyResult } from "../../../schema/records/Run.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { holdLost, type RunHold } from "../../ledger/run/RunHold.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { RunLifecycle } from "../../ledger/run/RunLifecycle.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import { StaleReasonsJson } from "../../ledger/capsule/CapsuleRow.ts"
import type { InstallConfigStore } from "../../ledger/configuration/InstallConfigStore.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"
import type { PreparedApply } from "./PreparationSchemas.ts"

/** The result of the checks after an apply. `problem` is set if a check failed or could not run. */
export interface PostApplyOutcome {
  readonly results: ReadonlyArray<PostApplyResult>
  readonly problem?: { readonly code: string; readonly message: string } | undefined
}

/**
 * Returns the operator's checks after an apply. If the Run stored no preparation, the checks come from its configuration.
 */
export const lifecycleAfter = (
  configs: InstallConfigStore["Service"],
  run: Pick<RunRow, "install_config_id">,
  prepared: PreparedApply | undefined
): Effect.Effect<Lifecycle | undefined> =>
  prepared === undefined
    ? Effect.map(configs.load(run.install_config_id), (config) => config?.config.operator?.lifecycle)
    : Effect.succeed(prepared.lifecycle)

/**
 * Ends an apply whose state is already committed, according to the outcome of its checks. Writes everything in one
 * transaction, and only once.
 */
export const makeConclusion = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const runs = yield* RunLedger
  const lifecycle = yield* RunLifecycle
  const capsules = yield* CapsuleLedger

  return Effect.fn("Capsule.concludeApply")(function* (hold: RunHold, { problem, results }: PostApplyOutcome) {
    const run = yield* runs.held(hold)
    if (run === undefined || run.provider_apply_succeeded !== 1) return yield* holdLost(hold)
    const capsule = yield* capsules.find(run.capsule_id)
    if (capsule === undefined) return yield* Effect.die(new Error(`The Capsule of Run ${run.id} is gone`))
    const stale = StaleReasonsJson.read(capsule.stale_reasons).length > 0
    const fenced = yield* capsules.fence(
      capsule,
      problem === undefined
        ? { status: stale ? "stale" : "active", runtime_safety: "safe" }
        : { status: "error", runtime_safety: "unknown" }
    )
    if (!fenced) return yield* Effect.die(new Error(`Capsule ${capsule.id} moved inside the transaction of its apply`))
    const evidence = { postApply: results }
    const data = run.state_version_id === null ? {} : { stateVersionId: run.state_version_id }
    yield* problem === undefined
      ? lifecycle.succeedApply(hold, data, evidence)
      : lifecycle.fail(hold, problem, evidence, data)
  }, transaction(sql))
})
