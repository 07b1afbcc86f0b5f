import { Clock, Effect, Semaphore } from "effect"

/**
 * Returns true while background work that finished at `since` must pause. Ignores a time in the future, which must have been
 * recorded before the clock was corrected; otherwise, the work would wait until the clock catches up.
 */
export const isCoolingDown = (since: number | undefined, cooldown: number, at: number): boolean =>
  since !== undefined && since <= at && at < since + cooldown

/**
 * Runs background work in passes, and pauses after each complete pass. A pass returns true if the work is complete. Passes
 * never overlap.
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
