/**
 * First argument of a compiled binary: act as the process that runs one sync. Not a command for people, so help does not list it.
 */
export const syncArgument = "internal-sync"

/** First argument of a compiled binary: act as the process that becomes or supervises a program in a sandbox. */
export const confineArgument = "internal-confine"

/** First argument of a compiled binary: act as the process that stops an agent's tools when their leases expire. */
export const guardArgument = "internal-guard"
