import { Clock, Context, DateTime, Effect } from "effect"
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

/**
 * The present time, for a read that compares it with these moments and with nothing else: its answer holds until the first of
 * them that is still to come.
 */
export const presentUntil = (moments: ReadonlyArray<string | null>): Effect.Effect<Timestamp> =>
  Effect.withFiber((fiber) => {
    const horizon = fiber.getRef(ReadHorizon)
    const present = (horizon?.clock ?? fiber.getRef(Clock.Clock)).currentTimeMillisUnsafe()
    for (const moment of horizon === undefined ? [] : moments) {
      const millis = moment === null ? present : Date.parse(moment)
      if (millis > present) horizon?.until(millis)
    }
    return Effect.succeed(DateTime.formatIso(DateTime.makeUnsafe(present)))
  })
