import { Context, Effect, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { Toolchain } from "../../../runner/toolchain/Toolchain.ts"
import { defaultProfile } from "../../../schema/policy/ExecutionProfile.ts"
import type { RunId } from "../../../schema/records/Ids.ts"
import { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { OperatorConfigs, executionProfile } from "../../ledger/configuration/OperatorConfigs.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { pendingPlan, RunRow, toRun } from "../../ledger/run/RunRow.ts"
import { toolMoved } from "./ReviewedPlanProblem.ts"

/**
 * Finds plans that were created with a different tool from the one that their apply would use, for example before an upgrade
 * of svc or of the tool.
 */
export class OutdatedPlans extends Context.Service<
  OutdatedPlans,
  {
    /**
     * Voids every unapplied plan whose tool would cause its apply to be refused, before anyone approves the plan. Returns
     * the number of voided plans. Keeps a plan if its tool cannot currently be determined.
     */
    readonly supersede: Effect.Effect<number>
  }
>()("svc/actors/running/execution/OutdatedPlans") {
  static readonly layer = Layer.effect(
    OutdatedPlans,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* RunLedger
      const toolchain = yield* Toolchain
      const operator = yield* OperatorConfigs

      /** Returns the reason why a new plan is needed. Runs outside a transaction, because it may start the tool. */
      const reasonOf = Effect.fnUntraced(function* (plan: RunRow) {
        const [capsule] = yield* Effect.orDie(
          CapsuleRow.rows(sql)`SELECT * FROM capsules WHERE id = ${plan.capsule_id}`
        )
        const wanted = executionProfile(operator, plan.profile ?? defaultProfile)?.tool
        const name = capsule?.tool_name ?? wanted?.name
        const tool = yield* Effect.result(
          toolchain.resolve(
            name === undefined && wanted?.version === undefined ? undefined : { name, version: wanted?.version }
          )
        )
        return Result.isSuccess(tool) ? toolMoved(toRun(plan).tool, tool.success) : undefined
      })

      const supersede = Effect.gen(function* () {
        const plans = yield* Effect.orDie(
          RunRow.rows(sql)`SELECT * FROM runs WHERE ${sql.literal(pendingPlan())} AND type <> 'restore'`
        )
        const reasons = new Map<RunId, string>()
        for (const plan of plans) {
          const reason = yield* reasonOf(plan)
          if (reason !== undefined) reasons.set(plan.id, reason)
        }
        return reasons.size === 0 ? 0 : yield* ledger.supersedeWhere(({ id }) => Effect.succeed(reasons.get(id)))
      }).pipe(Effect.withSpan("OutdatedPlans.supersede"))

      return OutdatedPlans.of({ supersede })
    })
  )
}
