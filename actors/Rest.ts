/**
 * Whether background work still rests that ended at `since`. A moment ahead of the clock is from before the date was corrected: the
 * work would otherwise stop for as long as the date was wrong.
 */
export const isResting = (since: number | undefined, rest: number, at: number): boolean =>
  since !== undefined && since <= at && at < since + rest
