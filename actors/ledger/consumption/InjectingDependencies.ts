import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { CapsuleId } from "../../../schema/records/Ids.ts"
import { DependencyRow, DependencyOutputsJson } from "./DependencyRow.ts"

const decodeOutputs = Schema.decodeUnknownEffect(DependencyOutputsJson)

/** Returns the dependencies that fill inputs of a Capsule. If two dependencies fill the same input, the later one wins. */
export const injectingDependencies = Effect.fn("injectingDependencies")(function* (consumerCapsuleId: CapsuleId) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* DependencyRow.rows(sql)`SELECT * FROM dependencies
    WHERE consumer_capsule_id = ${consumerCapsuleId} AND mode <> 'remote_state' ORDER BY created_at, id`
  return yield* Effect.forEach(rows, ({ id, mode, outputs, producer_capsule_id }) =>
    Effect.map(decodeOutputs(outputs), (wanted) => ({ id, mode, producerCapsuleId: producer_capsule_id, wanted }))
  )
}, Effect.orDie)
