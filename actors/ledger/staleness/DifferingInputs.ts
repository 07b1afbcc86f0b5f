import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { InjectedInput } from "../../../schema/records/Run.ts"
import { type Consumer, isOfferedStill, offeredOutputs } from "../consumption/OfferedOutputs.ts"
import { ConsumedInputRow } from "./ConsumedInputRow.ts"

/**
 * Returns, for reviewers, the names of inputs from other Capsules whose values have changed since the last apply. Omits the
 * values, which may be private.
 */
export const differingInputs = Effect.fn("differingInputs")(function* (consumer: Consumer) {
  const sql = yield* SqlClient.SqlClient
  const applied = yield* ConsumedInputRow.rows(sql)`SELECT * FROM consumed_inputs
    WHERE capsule_id = ${consumer.id} AND input <> '' ORDER BY dependency_id, input`
  const offers = (yield* offeredOutputs(consumer)).filter(({ given, input }) => input !== undefined && given.length > 0)
  const found: Array<InjectedInput> = []
  for (const offer of offers) {
    const { dependencyId, input = "", producerCapsuleId } = offer
    const row = applied.find((each) => each.dependency_id === dependencyId && each.input === input)
    const taken = row === undefined ? undefined : { name: row.name, stateVersionId: row.state_version_id }
    if (taken !== undefined && (yield* isOfferedStill(taken, offer))) continue
    found.push({ input, producerCapsuleId, change: taken === undefined ? "added" : "changed" })
  }
  for (const row of applied) {
    const isGiven = offers.some(({ dependencyId, input }) => dependencyId === row.dependency_id && input === row.input)
    if (!isGiven) found.push({ input: row.input, producerCapsuleId: row.producer_capsule_id, change: "removed" })
  }
  return found
}, Effect.orDie)
