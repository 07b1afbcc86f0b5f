import { Context } from "effect"

/**
 * The state that reads through `ReadSql` see. All reads of one turn of the event loop share one transaction; it ends with
 * the turn and with every commit of this process, so that a writer always sees its own writes.
 */
export interface ReadSnapshotShape {
  /** The next read sees everything committed so far, by any process. */
  readonly renew: () => void
  /**
   * The same for everything that had arrived when this turn of the event loop began: the cache is checked once for the rest
   * of the turn, because what another process commits later was confirmed to its caller only after that.
   */
  readonly renewForTurn: () => void
}

/** A database that is not embedded does not need this: each of its reads sees the newest state. */
export const ReadSnapshot = Context.Reference<ReadSnapshotShape>("svc/database/ReadSnapshot", {
  defaultValue: () => ({ renew: () => {}, renewForTurn: () => {} })
})
