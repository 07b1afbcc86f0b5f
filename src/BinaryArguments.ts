/** First argument of a compiled binary: act as the process of one sync. Not a command for people, so help does not list it. */
export const syncArgument = "internal-sync"

/** First argument of a compiled binary: act as the process that becomes or supervises a program of a sandbox. */
export const confineArgument = "internal-confine"

/** First argument of a compiled binary: act as the process that ends an agent's tools when their leases end. */
export const guardArgument = "internal-guard"
