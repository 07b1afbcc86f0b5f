import { Context, Option, type Schema } from "effect"
import type { Statement } from "effect/sql"

/** Reads the one row that the values name. `None`: there is no such row, or none that can be read at once. */
export type PointRead<Row> = (...values: ReadonlyArray<string>) => Option.Option<Row>

export interface PointReadsShape {
  /**
   * Prepares a read of one row from the last committed state, which is answered at once instead of by an Effect. `build`
   * makes the statement from its values, as for every other read; it is called once, with place-holders. Rows that
   * `row` does not decode are not there.
   */
  readonly prepare: <Row extends Schema.ConstraintDecoder<unknown>>(
    row: Row,
    build: (...values: ReadonlyArray<string>) => Statement.Statement<unknown>
  ) => PointRead<Row["Type"]>
  /**
   * What `find` found within `together`, or made of a row found there, is not asked for again there as long as nothing at
   * all has been committed to the database since, by whomever.
   */
  readonly untilCommit: <A>(find: PointRead<A>) => PointRead<A>
  /** Runs point reads that all see the same committed state. */
  readonly together: <A>(read: () => Option.Option<A>) => Option.Option<A>
}

/**
 * Single rows by key from the read-only connection, for routes that are asked all the time: what an Effect and its
 * statement cost is several times the read itself. Whoever gets `None` asks again the ordinary way, which knows the reason.
 * Without an embedded database nothing can be read at once.
 */
export const PointReads = Context.Reference<PointReadsShape>("svc/database/PointReads", {
  defaultValue: () => ({ prepare: () => Option.none, untilCommit: (find) => find, together: (read) => read() })
})
