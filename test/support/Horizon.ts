import { Clock, Effect } from "effect"
import { ReadHorizon } from "../../actors/base/database/ReadHorizon.ts"

/** The time until which a read's result is valid, as a timestamp; `undefined` if it is valid for as long as its records are. */
export const horizonOf = <A, E, R>(read: Effect.Effect<A, E, R>): Effect.Effect<string | undefined, E, R> =>
  Clock.clockWith((clock) => {
    let end: number | undefined
    const until = (millis: number) => {
      end = Math.min(end ?? millis, millis)
    }
    return read.pipe(
      Effect.provideService(ReadHorizon, { clock, until }),
      Effect.map(() => (end === undefined ? undefined : new Date(end).toISOString()))
    )
  })
