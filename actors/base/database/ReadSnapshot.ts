import { Context } from "effect"

/**
 * The snapshot for reads through `ReadSql`. All reads in one turn of the event loop share a transaction. The transaction
 * ends with the turn and with each commit of this process, so a writer always sees its own writes.
 */
export interface ReadSnapshotShape {
  /** Makes the next read see everything that any process has committed so far. */
  readonly renew: () => void
  /**
   * Like `renew`, but refreshes at most once per turn of the event loop. The next read may then miss a commit that another
   * process makes later in this turn, which is acceptable because that commit is confirmed to its caller only after the
   * turn.
   */
  readonly renewForTurn: () => void
}

/** Only an embedded database needs snapshots. In any other database, each read returns the newest data. */
export const ReadSnapshot = Context.Reference<ReadSnapshotShape>("svc/actors/base/database/ReadSnapshot", {
  defaultValue: () => ({ renew: () => {}, renewForTurn: () => {} })
})
