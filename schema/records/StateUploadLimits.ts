// Must not import Effect: the dashboard loads this module too.

/** The maximum size of a state that can be taken over. */
export const mostStateBytes = 32 * 1024 * 1024

/** The largest sealed backup that can be imported. It contains every retained state of the Capsule, encoded twice. */
export const mostBackupFileBytes = 128 * 1024 * 1024
