// Free of Effect: the dashboard reads this too.

/** The largest state that is taken over. */
export const mostStateBytes = 32 * 1024 * 1024

/** The largest backup of another installation: it is sealed twice, and may hold more than one state. */
export const mostBackupBytes = 64 * 1024 * 1024
