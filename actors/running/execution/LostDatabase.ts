import type { Cause } from "effect"
import { hasDatabaseLost } from "../../base/database/DatabaseLost.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"

/**
 * Maximum number of times to start a Run whose server loses its database connection on each attempt. Limited, because one of
 * the Run's own statements may be terminating the database session.
 */
const mostStarts = 20

/** The reason that is recorded in the event when a Run starts again. */
export const databaseLost = "The server lost its connection to the database; the Run starts again."

/**
 * Returns true if a Run that changed nothing must start again: its server lost the database, and the Run is not to blame for
 * that. Runs of a server that died are started again, too (`RunRecovery`).
 */
export const startsAgain = ({ fence }: Pick<RunRow, "fence">, cause: Cause.Cause<unknown>): boolean =>
  hasDatabaseLost(cause) && fence < mostStarts
