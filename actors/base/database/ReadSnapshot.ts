import { Context } from "effect"

/**
 * The snapshot for reads through `ReadSql`. All reads in one turn of the event loop share one transaction; it ends with the turn
 * and with every commit made by this process, so that a writer always sees its own writes.
 */
export interface ReadSnapshotShape {
  /** Ensures that the next read sees everything committed so far, by any process. */
  readonly renew: () => void
  /**
   * Like `renew`, but for everything that had arrived when this turn of the event loop began: the cache is checked once for the
   * rest of the turn, because anything another process commits later is confirmed to its caller only after that.
   */
  readonly renewForTurn: () => void
}

/** A database that is not embedded does not need this: each read sees the newest state. */
export const ReadSnapshot = Context.Reference<ReadSnapshotShape>("svc/actors/base/database/ReadSnapshot", {
  defaultValue: () => ({ renew: () => {}, renewForTurn: () => {} })
})
