import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"

/** What let an Output of another Capsule flow into a plan. */
export const ConsumedOutput = Schema.Struct({
  dependencyId: Schema.String,
  /** From another Workspace: the share that it came through. */
  outputShareId: Schema.optionalKey(Schema.String)
})
export type ConsumedOutput = typeof ConsumedOutput.Type

const ConsumedJson = Schema.fromJsonString(Schema.Array(ConsumedOutput))
export const encodeConsumed = Schema.encodeSync(ConsumedJson)
const decodeConsumed = Schema.decodeUnknownEffect(ConsumedJson)

export const shareRevoked = "A share of Outputs that this plan used was revoked. Plan again."
export const dependencyRemoved = "A dependency that this plan used was removed. Plan again."

/** Why what was consumed is not given any more at this moment; `undefined` when all of it is. */
export const lostOutputs = Effect.fn("lostOutputs")(function* (consumed: ReadonlyArray<ConsumedOutput>) {
  const sql = yield* SqlClient.SqlClient
  for (const { dependencyId, outputShareId } of consumed) {
    if ((yield* sql`SELECT 1 AS one FROM dependencies WHERE id = ${dependencyId}`).length === 0)
      return dependencyRemoved
    if (outputShareId === undefined) continue
    const active = yield* sql`SELECT 1 AS one FROM output_shares WHERE id = ${outputShareId} AND status = 'active'`
    if (active.length === 0) return shareRevoked
  }
  return undefined
}, Effect.orDie)

/** The same for a saved plan. Whether there is one at all is not asked here. */
export const lostOutputsOf = Effect.fn("lostOutputsOf")(function* (planRunId: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ consumed: string | null }>`SELECT consumed_outputs AS consumed FROM run_plans
    WHERE run_id = ${planRunId}`
  if (row === undefined) return undefined
  if (row.consumed === null) {
    return "This plan was made by an older release and does not say which Outputs it used. Plan again."
  }
  return yield* lostOutputs(yield* decodeConsumed(row.consumed))
}, Effect.orDie)
