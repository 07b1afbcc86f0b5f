import { Clock, Context, DateTime, Effect, type Fiber } from "effect"
import type { Timestamp } from "../../schema/records/Primitives.ts"

/** Where a read notes how long its answer holds. */
export interface ReadHorizonShape {
  /** The clock of the request. */
  readonly clock: Clock.Clock
  /** The answer holds until this time (milliseconds), and no longer. */
  readonly until: (millis: number) => void
}

/** Absent where nobody remembers the answer. */
export const ReadHorizon = Context.Reference<ReadHorizonShape | undefined>("svc/database/ReadHorizon", {
  defaultValue: () => undefined
})

const clockOf = (fiber: Fiber.Fiber<unknown, unknown>): Clock.Clock =>
  fiber.getRef(ReadHorizon)?.clock ?? fiber.getRef(Clock.Clock)

const timestampOf = (millis: number): Timestamp => DateTime.formatIso(DateTime.makeUnsafe(millis))

/**
 * The present time, for a read that compares it with these moments and with nothing else: its answer holds until the first of
 * them that is still to come.
 */
export const presentUntil = (moments: ReadonlyArray<string | null>): Effect.Effect<Timestamp> =>
  Effect.withFiber((fiber) => {
    const horizon = fiber.getRef(ReadHorizon)
    const present = clockOf(fiber).currentTimeMillisUnsafe()
    for (const moment of horizon === undefined ? [] : moments) {
      const millis = moment === null ? present : Date.parse(moment)
      if (millis > present) horizon?.until(millis)
    }
    return Effect.succeed(timestampOf(present))
  })

/** Milliseconds for which an answer that shows its own time is given again. */
const datedAnswerMillis = 1000

/**
 * The present time, for an answer that shows when it was made. Until something is committed the answer stays true and keeps its
 * date, so it holds for a second: long enough to cost nothing, too short for anybody to notice the age of its date.
 */
export const dateOfAnswer: Effect.Effect<Timestamp> = Effect.withFiber((fiber) => {
  const present = clockOf(fiber).currentTimeMillisUnsafe()
  fiber.getRef(ReadHorizon)?.until(present + datedAnswerMillis)
  return Effect.succeed(timestampOf(present))
})
