import { Clock, Context, DateTime, Effect, type Fiber } from "effect"
import type { Timestamp } from "../../../schema/records/Primitives.ts"

/** The place in which a read records how long its result remains valid. */
export interface ReadHorizonShape {
  /** The request's clock. */
  readonly clock: Clock.Clock
  /** The result is valid until this time (milliseconds). */
  readonly until: (millis: number) => void
}

/** Absent where results are not cached. */
export const ReadHorizon = Context.Reference<ReadHorizonShape | undefined>("svc/actors/base/database/ReadHorizon", {
  defaultValue: () => undefined
})

const clockOf = (fiber: Fiber.Fiber<unknown, unknown>): Clock.Clock =>
  fiber.getRef(ReadHorizon)?.clock ?? fiber.getRef(Clock.Clock)

const timestampOf = (millis: number): Timestamp => DateTime.formatIso(DateTime.makeUnsafe(millis))

/**
 * The current time, for a read that only compares it with these times: its result is valid until the earliest of these times that
 * is still in the future.
 */
export const nowUntil = (moments: ReadonlyArray<string | null>): Effect.Effect<Timestamp> =>
  Effect.withFiber((fiber) => {
    const horizon = fiber.getRef(ReadHorizon)
    const present = clockOf(fiber).currentTimeMillisUnsafe()
    for (const moment of horizon === undefined ? [] : moments) {
      const millis = moment === null ? present : Date.parse(moment)
      if (millis > present) horizon?.until(millis)
    }
    return Effect.succeed(timestampOf(present))
  })

/** The time in milliseconds for which a result with a date is reused. */
const datedAnswerMillis = 1000

/**
 * The current time, for a result that contains its date. The result remains true until a commit, and keeps its date, so it is
 * reused for a second: long enough to be cheap, too short for anyone to notice an old date.
 */
export const dateOfAnswer: Effect.Effect<Timestamp> = Effect.withFiber((fiber) => {
  const present = clockOf(fiber).currentTimeMillisUnsafe()
  fiber.getRef(ReadHorizon)?.until(present + datedAnswerMillis)
  return Effect.succeed(timestampOf(present))
})
