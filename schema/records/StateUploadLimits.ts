// Does not import Effect: the dashboard reads this too.

/** The largest state that is taken over. */
export const mostStateBytes = 32 * 1024 * 1024

/** The largest sealed backup that can be imported. It contains every state of the Capsule that was kept, encoded twice. */
export const mostBackupFileBytes = 128 * 1024 * 1024
