import { Clock, Effect, Semaphore } from "effect"

/**
 * True if background work that finished at `since` is still in its pause. A time in the future dates from before the clock was
 * corrected: the work would otherwise stop until the clock had caught up.
 */
export const isCoolingDown = (since: number | undefined, cooldown: number, at: number): boolean =>
  since !== undefined && since <= at && at < since + cooldown

/**
 * Background work that pauses once it is over. A pass returns whether the work is over; while a pass runs, no other begins.
 */
export const makeCooldown = (cooldown: number) => {
  const passing = Semaphore.makeUnsafe(1)
  let since: number | undefined
  return <E, R>(pass: Effect.Effect<boolean, E, R>): Effect.Effect<void, E, R> =>
    Effect.gen(function* () {
      const at = yield* Clock.currentTimeMillis
      if (isCoolingDown(since, cooldown, at)) return
      const isOver = yield* pass
      since = isOver ? at : since
    }).pipe(passing.withPermitsIfAvailable(1), Effect.asVoid)
}
