/**
 * First argument with which a compiled binary runs a single sync. The argument is not meant for people, so the help does not
 * list it.
 */
export const syncArgument = "internal-sync"

/** First argument with which a compiled binary becomes or supervises a program in a sandbox. */
export const confineArgument = "internal-confine"

/** First argument with which a compiled binary stops an agent's tools when their leases expire. */
export const guardArgument = "internal-guard"
