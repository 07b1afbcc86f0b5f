// Must not import Effect, because the dashboard also loads this module.

/** Maximum size in bytes of a state to take over. */
export const mostStateBytes = 32 * 1024 * 1024

/** Maximum size in bytes of a sealed backup to import. It contains all retained states of the Capsule, encoded twice. */
export const mostBackupFileBytes = 128 * 1024 * 1024
