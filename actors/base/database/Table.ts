import { type Array as Arr, Context, Effect, Schema, Struct } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Subject } from "../../../schema/records/Ids.ts"

/** The value of a column: text, integer, bytes or null. JSON is stored as text, see `JsonText`. */
export type Stored = string | number | Uint8Array | null

/** Columns, keyed by name. Their schemas must not transform values. */
export type Columns = Readonly<Record<string, Schema.Codec<Stored, Stored>>>

/** A row with the given columns. */
export type RowOf<C extends Columns> = { readonly [Name in keyof C]: C[Name]["Type"] }

/**
 * If true, checks every row against its columns. Checking takes twice as long as reading the row from SQLite, so only tests
 * enable it.
 */
export const RowChecks = Context.Reference<boolean>("svc/actors/base/database/RowChecks", { defaultValue: () => false })

/**
 * A row does not match its columns, because the statement and the model differ. The error lists the columns, but never their
 * values.
 */
export class RowMismatch extends Schema.TaggedError<RowMismatch>()("RowMismatch", { message: Schema.String }) {}

const mismatches = (columns: Columns, row: object) => [
  ...Object.entries(columns).flatMap(([name, column]) => {
    const value: unknown = Object.getOwnPropertyDescriptor(row, name)?.value
    return Schema.is(column)(value) ? [] : [value === undefined ? `${name} is missing` : `${name} holds something else`]
  }),
  ...Object.keys(row).flatMap((name) => (name in columns ? [] : [`${name} is not in the model`]))
]

const checked = (columns: Columns, rows: ReadonlyArray<object>) => {
  for (const row of rows) {
    const found = mismatches(columns, row)
    if (found.length > 0) {
      return Effect.die(new RowMismatch({ message: `A row does not fit its model: ${found.join(", ")}.` }))
    }
  }
  return Effect.void
}

/** A tagged template for a statement, like `sql`. */
type Template<A> = (
  text: TemplateStringsArray,
  ...values: ReadonlyArray<unknown>
) => Effect.Effect<ReadonlyArray<A>, SqlError>

const reader =
  <Row extends object>(columns: () => Columns, isKept = true) =>
  (sql: SqlClient.SqlClient): Template<Row> =>
  (text, ...values) => {
    const prepared = sql<Row>(text, ...values)
    const statement = isKept ? prepared : prepared.unprepared
    return Effect.withFiber((fiber) =>
      fiber.getRef(RowChecks) ? Effect.tap(statement, (rows) => checked(columns(), rows)) : statement
    )
  }

/** The shape of rows from a join or an aggregate. Declare it next to the query. */
export interface RowShape<C extends Columns> {
  readonly columns: C
  /** Reads rows. The statement must return exactly these columns. */
  readonly rows: (sql: SqlClient.SqlClient) => Template<RowOf<C>>
  /** Like `rows`, for a statement that should not be cached. */
  readonly rowsOnce: (sql: SqlClient.SqlClient) => Template<RowOf<C>>
}

/**
 * Rows of a statement whose columns do not come from a single table.
 *
 * @example
 * const counts = rowShape({ capsule_id: CapsuleId, runs: Schema.Int })
 * const found = yield* counts.rows(sql)`SELECT capsule_id, COUNT(*) AS runs FROM runs GROUP BY capsule_id`
 */
export const rowShape = <const C extends Columns>(columns: C): RowShape<C> => ({
  columns,
  rows: reader<RowOf<C>>(() => columns),
  rowsOnce: reader<RowOf<C>>(() => columns, false)
})

// A string that has no other brand. The type declares a property that every string has, so that plain strings match it.
interface Unbranded {
  readonly length: number
  readonly "~effect/Brand"?: never
}

/**
 * A value that may be written to a column. Ids must have the right brand. A subject may also be the plain string from a session
 * or token.
 */
type Written<A> = A extends Subject ? A | (string & Unbranded) : A

type Optional<C extends Columns, Default extends keyof C> = {
  [Name in keyof C]: null extends C[Name]["Type"] ? Name : Name extends Default ? Name : never
}[keyof C]

/** The values of a new row. Nullable columns and columns with a default can be omitted. */
export type NewRow<C extends Columns, Default extends keyof C> = {
  readonly [Name in Exclude<keyof C, Optional<C, Default>>]: Written<C[Name]["Type"]>
} & { readonly [Name in Optional<C, Default>]?: Written<C[Name]["Type"]> }

/** New values for some columns of a row. */
export type Changes<C extends Columns> = { readonly [Name in keyof C]?: Written<C[Name]["Type"]> }

/** The values of a new row of this table. */
export type NewRowOf<T> = T extends {
  readonly columns: infer C extends Columns
  readonly defaults: ReadonlyArray<infer Default>
}
  ? NewRow<C, Default & keyof C>
  : never

/** New values for some columns of this table. */
export type ChangesOf<T> = T extends { readonly columns: infer C extends Columns } ? Changes<C> : never

/** Rejects columns that the table does not have, even if they come from a spread object. */
type Only<Given, C extends Columns> = { readonly [Name in Exclude<keyof Given, keyof C>]: never }

/** A table, or a selection of its columns. */
export interface TablePart<Name extends string, C extends Columns> {
  readonly name: Name
  readonly columns: C
  /** Reads rows with exactly these columns. */
  readonly rows: (sql: SqlClient.SqlClient) => Template<RowOf<C>>
}

export interface Table<Name extends string, C extends Columns, Default extends keyof C> extends TablePart<Name, C> {
  /** Columns with a default value in the database. */
  readonly defaults: ReadonlyArray<Default>
  /** Reads some columns of the table. */
  readonly some: <Names extends ReadonlyArray<keyof C & string>>(
    sql: SqlClient.SqlClient,
    ...names: Names
  ) => Template<Pick<RowOf<C>, Names[number]>>
  /** Selects columns, for a list that needs only some of them. */
  readonly only: <Names extends keyof C & string>(...names: ReadonlyArray<Names>) => TablePart<Name, Pick<C, Names>>
  /** Selects all columns except the given ones, for example to leave sealed or large columns out of a list. */
  readonly without: <Names extends keyof C & string>(...names: ReadonlyArray<Names>) => TablePart<Name, Omit<C, Names>>
  /** Returns the columns and values for inserting one row. Use it after `INSERT INTO <table>`. */
  readonly values: <Row extends NewRow<C, Default>>(
    sql: SqlClient.SqlClient,
    row: Row & Only<Row, C>
  ) => Statement.RecordInsertHelper
  /**
   * Returns the columns and values for inserting several rows with the same columns. Use it after `INSERT INTO <table>`, in
   * `inParts`.
   */
  readonly several: <Row extends NewRow<C, Default>>(
    sql: SqlClient.SqlClient,
    rows: Arr.NonEmptyReadonlyArray<Row & Only<Row, C>>
  ) => Statement.RecordInsertHelper
  /** Returns the assignments for an update. Use it after `UPDATE <table> SET`. */
  readonly changes: <Row extends Changes<C>>(
    sql: SqlClient.SqlClient,
    row: Row & Only<Row, C>
  ) => Statement.RecordUpdateHelperSingle
}

const part = <Name extends string, C extends Columns>(name: Name, columns: C): TablePart<Name, C> => ({
  name,
  columns,
  rows: reader<RowOf<C>>(() => columns)
})

/**
 * The single model of a table, which covers reading, inserting and changing its rows. A test compares every model with the
 * migrated database.
 *
 * @example const ProjectRow = table("projects", { id: ProjectId, name: Schema.String, is_default: Flag }) const found = yield*
 * ProjectRow.rows(sql)`SELECT * FROM projects WHERE id = ${id}` yield* sql`INSERT INTO projects ${ProjectRow.values(sql, { id,
 * name, is_default: 0 })}`
 */
export const table = <
  const Name extends string,
  const C extends Columns,
  const Default extends keyof C & string = never
>(
  name: Name,
  columns: C,
  defaults: ReadonlyArray<Default> = []
): Table<Name, C, Default> => ({
  ...part(name, columns),
  defaults,
  some: (sql, ...names) => reader<Pick<RowOf<C>, (typeof names)[number]>>(() => Struct.pick(columns, names))(sql),
  only: (...names) => part(name, Struct.pick(columns, names)),
  without: (...names) => part(name, Struct.omit(columns, names)),
  values: (sql, row) => sql.insert(row),
  several: (sql, rows) => sql.insert(rows),
  changes: (sql, row) => sql.update(row)
})

/** Booleans as stored in the database. */
export const Flag = Schema.Literals([0, 1])
