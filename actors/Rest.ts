/**
 * Whether background work that finished at `since` is still in its pause. A time in the future dates from before the clock was
 * corrected: the work would otherwise stop for as long as the clock had been wrong.
 */
export const isResting = (since: number | undefined, rest: number, at: number): boolean =>
  since !== undefined && since <= at && at < since + rest
