import { DatabaseSync, type SQLInputValue, StatementSync } from "node:sqlite"
import { Effect, FileSystem } from "effect"
import type { SqlClient } from "effect/sql"

interface Executed {
  readonly sql: string
  readonly bindings: ReadonlyArray<SQLInputValue>
  readonly method: "all" | "run"
}

/** The original methods of `node:sqlite` that are observed. */
const { all, run } = StatementSync.prototype
const { prepare } = DatabaseSync.prototype

/** One execution of a statement. Recording must be cheap, because its time counts as the service's time. */
type Execution = readonly [statement: StatementSync, method: Executed["method"], bindings: ReadonlyArray<SQLInputValue>]

interface Prepared {
  readonly sql: string
  readonly database: DatabaseSync
}

/**
 * Observes this process's statements until the scope closes. Start observing before the service opens its database, because
 * a statement does not reveal its connection later.
 */
export const observedStatements = Effect.gen(function* () {
  const prepared = new WeakMap<StatementSync, Prepared>()
  let source: DatabaseSync | undefined
  let executions: Array<Execution> = []
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      DatabaseSync.prototype.prepare = function (this: DatabaseSync, ...parameters: Parameters<typeof prepare>) {
        const statement = prepare.apply(this, parameters)
        prepared.set(statement, { sql: parameters[0], database: this })
        return statement
      }
      Object.assign(StatementSync.prototype, {
        all(this: StatementSync, ...bindings: Array<SQLInputValue>) {
          const result: unknown = Reflect.apply(all, this, bindings)
          executions.push([this, "all", bindings])
          return result
        },
        run(this: StatementSync, ...bindings: Array<SQLInputValue>) {
          const result: unknown = Reflect.apply(run, this, bindings)
          executions.push([this, "run", bindings])
          return result
        }
      })
    }),
    () =>
      Effect.sync(() => {
        DatabaseSync.prototype.prepare = prepare
        Object.assign(StatementSync.prototype, { all, run })
      })
  )
  return {
    /**
     * Returns the statements that were executed since the previous call, or since the copy if it is newer, on the connection
     * that was last copied.
     */
    take: (): ReadonlyArray<Executed> => {
      let taken: Array<Executed> = []
      for (const [statement, method, bindings] of executions) {
        const known = prepared.get(statement)
        if (known === undefined) continue
        if (known.sql.startsWith("VACUUM INTO")) {
          // The copy already contains everything that was written so far.
          source = known.database
          taken = []
        } else if (known.database === source) taken.push({ sql: known.sql, bindings, method })
      }
      executions = []
      return taken
    }
  }
})

/**
 * Copies the database, and replays the statements of the service's writing connection in the copy: in the same transactions, with
 * the same values and durability, each prepared once.
 */
export const replayed = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const files = yield* FileSystem.FileSystem
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-bench-bare-" })
  yield* sql`VACUUM INTO ${`${folder}/bare.sqlite`}`
  const database = yield* Effect.acquireRelease(
    Effect.sync(() => new DatabaseSync(`${folder}/bare.sqlite`)),
    (open) => Effect.sync(() => open.close())
  )
  database.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA secure_delete=ON")
  const kept = new Map<string, StatementSync>()
  const statement = (text: string) => {
    const known = kept.get(text)
    if (known !== undefined) return known
    const fresh = prepare.call(database, text)
    kept.set(text, fresh)
    return fresh
  }
  /** Executes these statements, and returns the number of commits. */
  return (executed: ReadonlyArray<Executed>) =>
    Effect.sync(() => {
      let commits = 0
      for (const { bindings, method, sql: text } of executed) {
        if (method === "run") Reflect.apply(run, statement(text), bindings)
        else Reflect.apply(all, statement(text), bindings)
        if (text === "COMMIT") commits += 1
      }
      return commits
    })
})
