import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type Consumer, isOfferedStill, type OfferedOutput, offeredOutputs } from "./OfferedOutputs.ts"
import type { CapsuleStatus } from "../../../schema/records/Capsule.ts"
import { isEnded } from "../../../schema/records/CapsuleLifecycle.ts"
import { CapsuleRow } from "../capsule/CapsuleRow.ts"
import { rowShape } from "../../base/database/Table.ts"
import { CapsuleId, DependencyId, OutputShareId, type RunId, StateVersionId } from "../../../schema/records/Ids.ts"

/** A value that a plan received from a dependency. A dependency that provided nothing is recorded as well. */
export const ConsumedOutput = Schema.Struct({
  dependencyId: DependencyId,
  /** The share that provided the value, if the producer is in another Workspace. */
  outputShareId: Schema.optionalKey(OutputShareId),
  /** Absent in plans created before this field existed. */
  producerCapsuleId: Schema.optionalKey(CapsuleId),
  /**
   * The names that the consumer and the producer use for the Output. Absent for `remote_state`, which can read every Output.
   */
  output: Schema.optionalKey(Schema.String),
  name: Schema.optionalKey(Schema.String),
  input: Schema.optionalKey(Schema.String),
  /** The StateVersion that the value came from; absent if nothing was provided. */
  stateVersionId: Schema.optionalKey(StateVersionId)
})
export type ConsumedOutput = typeof ConsumedOutput.Type

const ConsumedJson = Schema.fromJsonString(Schema.Array(ConsumedOutput))
export const encodeConsumed = Schema.encodeSync(ConsumedJson)
const decodeConsumed = Schema.decodeUnknownEffect(ConsumedJson)

export const shareRevoked = "A share of Outputs that this plan used was revoked. Plan again."
export const dependencyRemoved = "A dependency that this plan used was removed. Plan again."
export const dependencyAdded = "A dependency was added after this plan was made. Plan again."

export const consumedOf = (offer: OfferedOutput): ConsumedOutput => ({
  dependencyId: offer.dependencyId,
  producerCapsuleId: offer.producerCapsuleId,
  ...(offer.outputShareId === undefined || offer.given.length === 0 ? {} : { outputShareId: offer.outputShareId }),
  ...(offer.output === undefined ? {} : { output: offer.output }),
  ...(offer.name === undefined ? {} : { name: offer.name }),
  ...(offer.input === undefined ? {} : { input: offer.input }),
  ...(offer.stateVersionId === undefined || offer.given.length === 0 ? {} : { stateVersionId: offer.stateVersionId })
})

const producerEnded = (status: CapsuleStatus) => `A Capsule whose Outputs this plan used was ${status}. Plan again.`

export const unrecorded = "This plan was made by an older release and does not say which Outputs it used. Plan again."

const hasMoved = ({ output, producerName, withheld }: OfferedOutput): string => {
  const producer = producerName === undefined ? "a Capsule that has ended" : `the Capsule ${producerName}`
  const what = output === undefined ? `An Output of ${producer}` : `The Output ${output} of ${producer}`
  return `${what} has changed since this plan was made.${withheld === undefined ? "" : ` ${withheld}`} Plan again.`
}

/** Returns the plan's record of an offer, or a reason that voids the plan regardless of the offered value. */
export const takenOf = (
  consumed: ReadonlyArray<ConsumedOutput>,
  offer: Pick<OfferedOutput, "dependencyId" | "input">
): ConsumedOutput | string => {
  const ofDependency = consumed.filter(({ dependencyId }) => dependencyId === offer.dependencyId)
  const taken = ofDependency.find(({ input }) => input === offer.input)
  const isOld = (taken === undefined ? ofDependency : [taken]).some(
    ({ producerCapsuleId }) => producerCapsuleId === undefined
  )
  return isOld ? unrecorded : (taken ?? dependencyAdded)
}

/**
 * Returns the first difference between the inputs of a plan and those of a new plan: an added or removed dependency or share, or
 * a changed offer. Returns `undefined` if there is none.
 */
export const movedInputs = Effect.fn("movedInputs")(function* (
  consumer: Consumer,
  consumed: ReadonlyArray<ConsumedOutput>
) {
  const sql = yield* SqlClient.SqlClient
  const offered = yield* offeredOutputs(consumer)
  for (const { dependencyId, outputShareId } of consumed) {
    const [producer] = yield* CapsuleRow.some(sql, "status")`SELECT c.status FROM dependencies d
      JOIN capsules c ON c.id = d.producer_capsule_id WHERE d.id = ${dependencyId}`
    if (producer === undefined) return dependencyRemoved
    if (isEnded(producer.status)) return producerEnded(producer.status)
    if (outputShareId === undefined) continue
    const active = yield* sql`SELECT 1 AS one FROM output_shares WHERE id = ${outputShareId} AND status = 'active'`
    if (active.length === 0) return shareRevoked
  }
  for (const offer of offered) {
    const taken = takenOf(consumed, offer)
    if (typeof taken === "string") return taken
    const { name, stateVersionId } = taken
    if (!(yield* isOfferedStill({ name, stateVersionId }, offer))) return hasMoved(offer)
  }
  return undefined
}, Effect.orDie)

const ConsumedRow = rowShape({ consumed: Schema.NullOr(Schema.String) })

/** Returns the inputs recorded for a plan: `undefined` if the plan is missing, `null` if it has no record of its inputs. */
export const consumedOfPlan = Effect.fn("consumedOfPlan")(function* (planRunId: RunId | null) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* ConsumedRow.rows(sql)`SELECT consumed_outputs AS consumed FROM run_plans
    WHERE run_id = ${planRunId}`
  if (row === undefined) return undefined
  return row.consumed === null ? null : yield* decodeConsumed(row.consumed)
}, Effect.orDie)

/** Applies `movedInputs` to a saved plan. Does not check that the plan exists. */
export const movedInputsOf = Effect.fn("movedInputsOf")(function* (consumer: Consumer, planRunId: RunId | null) {
  const consumed = yield* consumedOfPlan(planRunId)
  if (consumed === undefined) return undefined
  return consumed === null ? unrecorded : yield* movedInputs(consumer, consumed)
})
