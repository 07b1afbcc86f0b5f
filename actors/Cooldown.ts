/**
 * Whether background work that finished at `since` is still in its pause. A time in the future dates from before the clock was
 * corrected: the work would otherwise stop until the clock had caught up.
 */
export const isCoolingDown = (since: number | undefined, cooldown: number, at: number): boolean =>
  since !== undefined && since <= at && at < since + cooldown
