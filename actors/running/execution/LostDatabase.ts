import type { Cause } from "effect"
import { hasDatabaseLost } from "../../base/database/DatabaseLost.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"

/**
 * Maximum number of starts of a Run whose server loses the database each time. Bounded, because a statement of the Run may be what
 * ends the session.
 */
const mostStarts = 20

/** Reason in the event of a Run that starts again. */
export const databaseLost = "The server lost its connection to the database; the Run starts again."

/**
 * Returns true if a Run that changed nothing must start again: its server lost the database, for which the Run is not to blame. The
 * work of a server that died starts again too (`RunRecovery`).
 */
export const startsAgain = ({ fence }: Pick<RunRow, "fence">, cause: Cause.Cause<unknown>): boolean =>
  hasDatabaseLost(cause) && fence < mostStarts
