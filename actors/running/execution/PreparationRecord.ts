import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ModuleRunner } from "../../../runner/execution/ModuleRunner.ts"
import type { RunRequirements } from "../../../runner/sandbox/RunRequirements.ts"
import type { RunEvidence } from "../../../schema/records/Run.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { localPool } from "../../../schema/agent/PoolName.ts"
import { holdOf } from "../../ledger/run/RunHold.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { type PreparationSchema, RunPreparations } from "../../ledger/run/RunPreparations.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"
import { makeReportedMachine } from "./ReportedMachine.ts"
import { blocked } from "./RunSteps.ts"

/** Facts that are recorded in the Run itself. Readers see `shown` as evidence while the Run is executing. */
interface Recorded {
  readonly requirements: RunRequirements | undefined
  readonly shown?: RunEvidence
}

/**
 * Performs the last step of every preparation, immediately before the module is executed. In one transaction, records the
 * Run's isolation and network, and the data for its settlement. Blocks the Run if this machine does not satisfy the Run's
 * profile.
 */
export const makePreparationRecord = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const runner = yield* ModuleRunner
  const ledger = yield* RunLedger
  const preparations = yield* RunPreparations
  const agents = yield* makeReportedMachine

  return Effect.fnUntraced(function* <A extends { readonly evidence: RunEvidence }>(
    run: RunRow,
    { requirements, shown }: Recorded,
    schema: PreparationSchema<A>,
    prepared: A
  ) {
    const hold = holdOf(run)
    const confinement =
      run.pool === localPool
        ? yield* runner
            .confinement(requirements)
            .pipe(
              Effect.mapError(({ diagnostics, message, reason }) =>
                blocked(reason, message, { ...prepared.evidence, diagnostics })
              )
            )
        : yield* agents.confinement(run)
    yield* Effect.gen(function* () {
      yield* ledger.record(hold, confinement)
      if (shown !== undefined) yield* ledger.mergeEvidence(hold, shown)
      yield* preparations.save(hold, schema, prepared)
    }).pipe(transaction(sql))
  })
})
