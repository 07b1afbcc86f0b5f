import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { RunVariable } from "../../../runner/execution/RunJob.ts"
import { transaction } from "../../base/database/Transaction.ts"
import type { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { consumedOf } from "../../ledger/consumption/ConsumedOutputs.ts"
import { offeredOutputs } from "../../ledger/consumption/OfferedOutputs.ts"
import { OutputJson } from "../../ledger/state/StateVersionRow.ts"
import { StateVersions } from "../../ledger/state/StateVersions.ts"

/** The error if a required input has no value. */
export class MissingInput extends Schema.TaggedError<MissingInput>()("MissingInput", { message: Schema.String }) {}

/**
 * Injects Outputs of the Capsule's producers as inputs, keyed by target variable. If two Outputs have the same target
 * variable, the later Output is used.
 */
export const outputInjection = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const states = yield* StateVersions

  return Effect.fn("outputInjection")(function* (capsule: CapsuleRow) {
    const values = new Map<string, RunVariable>()
    const missing: Array<MissingInput> = []
    // Reads everything in one transaction, so that the recorded StateVersions match the values.
    const offered = yield* offeredOutputs(capsule).pipe(transaction(sql))
    for (const { given, input, output, ended, producerName, required, withheld } of offered) {
      if (input === undefined || output === undefined) continue
      const [row] = given
      if (row !== undefined) {
        const value = yield* states.outputValue(row)
        values.set(input, { value, type: OutputJson.read(row.type), sensitive: row.sensitive === 1 })
      } else if (required || withheld !== undefined) {
        // Fails instead of falling back to the module's default, which would silently change the value.
        const why = withheld ?? ended ?? "Apply that Capsule first, or renew the share of its Outputs."
        missing.push(
          new MissingInput({
            message: `The input ${input} needs the Output ${output} of the Capsule ${producerName ?? "that it depends on"}, which gives it no such Output. ${why}`
          })
        )
      }
    }
    return { values, missing, consumed: offered.map(consumedOf) }
  })
})
