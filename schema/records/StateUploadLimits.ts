// Free of Effect: the dashboard reads this too.

/** The largest state that is taken over. */
export const mostStateBytes = 32 * 1024 * 1024
