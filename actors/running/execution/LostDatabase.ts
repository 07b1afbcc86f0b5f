import type { Cause } from "effect"
import { hasDatabaseLost } from "../../base/database/DatabaseLost.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"

/**
 * Maximum number of times that a Run is started if its server loses the database every time. Limited, because one of the
 * Run's own statements may be terminating the database session.
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
