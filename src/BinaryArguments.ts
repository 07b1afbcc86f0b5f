/**
 * First argument of a compiled binary that runs a single sync. This is not a command for people, so the help does not list it.
 */
export const syncArgument = "internal-sync"

/** First argument of a compiled binary that becomes or supervises a program in a sandbox. */
export const confineArgument = "internal-confine"

/** First argument of a compiled binary that stops an agent's tools when their leases expire. */
export const guardArgument = "internal-guard"
