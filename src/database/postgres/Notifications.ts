import * as PgConnection from "@effect/sql-pg/PgConnection"
import { Deferred, Effect, Queue, type Redacted, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { RemoteChange, RemoteChangesShape } from "../../../actors/base/database/RemoteChanges.ts"
import { rowShape } from "../../../actors/base/database/Table.ts"
import { RunId } from "../../../schema/records/Ids.ts"

const channel = "svc"

/**
 * Announces a transaction to the other servers once the transaction commits. Runs as part of the statement that begins the
 * transaction.
 */
export const announceCommit = `pg_notify('${channel}', 'c')`

/**
 * Creates a trigger that announces a row after the commit. PostgreSQL delivers identical announcements from one transaction
 * only once.
 */
const announcing = (
  name: string,
  event: string,
  table: string,
  payload: string,
  when = "TRUE"
): ReadonlyArray<string> => [
  `CREATE OR REPLACE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM pg_notify('${channel}', ${payload}); RETURN NULL; END $$`,
  `CREATE OR REPLACE TRIGGER ${name} AFTER ${event} ON ${table} FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION ${name}()`
]

/** The announcement that the tables have been migrated. */
const migratedPayload = "m"

/** Triggers that exist only on PostgreSQL. Create them after the tables. */
export const announcingTriggers: ReadonlyArray<string> = [
  ...announcing("svc_announce_event", "INSERT", "run_events", "'r' || NEW.run_id"),
  ...announcing("svc_announce_log", "INSERT OR UPDATE", "run_log_chunks", "'r' || NEW.run_id"),
  ...announcing("svc_announce_run", "INSERT OR UPDATE OF status", "runs", "'q'"),
  ...announcing("svc_announce_cancel", "UPDATE OF cancel_requested_at", "runs", "'x' || NEW.id"),
  ...announcing(
    "svc_announce_policy",
    "INSERT",
    "audit_events",
    "'p'",
    "NEW.action = 'operator.command' AND NEW.target_kind = 'policy'"
  ),
  ...announcing("svc_announce_migration", "INSERT", "svc_migrations", `'${migratedPayload}'`)
]

const Asked = rowShape({ id: RunId })
const Tables = rowShape({ version: Schema.Int })

/** Time between attempts to reconnect. After each new connection, listeners read everything again. */
const retryEvery = "500 millis"

/** Creates the listeners for other servers' commits, and the function that calls them. */
export const remoteListeners = () => {
  const listeners = new Set<(change: RemoteChange) => void>()
  const changes: RemoteChangesShape = {
    listen: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    }
  }
  const report = (change: RemoteChange) => {
    for (const listener of Array.from(listeners)) listener(change)
  }
  return { changes, report }
}

export interface Listening {
  readonly session: PgConnection.Config & { readonly url: Redacted.Redacted }
  readonly reading: SqlClient.SqlClient
  readonly report: (change: RemoteChange) => void
  /** Called after each commit by another server. */
  readonly committed: () => void
  /** Called after another server has migrated the tables. */
  readonly migrated: () => void
  /** Called with the version of the tables when the server begins to listen. */
  readonly tablesSeen: (version: number) => void
  /** Returns true if the process id belongs to this server's own writing session. */
  readonly isOwn: (processId: number) => boolean
}

/**
 * Listens until the scope closes. After each reconnection, reports everything as changed and reads the cancel requests for
 * Runs, because notifications may have been lost in the meantime.
 */
export const listenToOthers = Effect.fn("listenToOthers")(function* (listening: Listening) {
  const { committed, isOwn, migrated, reading, report, session, tablesSeen } = listening

  const heard = ({ payload, processId }: PgConnection.Notification) => {
    if (isOwn(processId)) return
    const rest = RunId.make(payload.slice(1), { disableChecks: true })
    if (payload === "c") committed()
    else if (payload === migratedPayload) migrated()
    else if (payload === "q") report({ kind: "queue" })
    else if (payload === "p") report({ kind: "policy" })
    else if (payload.startsWith("r")) report({ kind: "run", runId: rest })
    else if (payload.startsWith("x")) report({ kind: "cancel", runId: rest })
  }

  const catchUp = Effect.gen(function* () {
    committed()
    report({ kind: "unknown" })
    const [tables] = yield* Tables.rows(reading)`SELECT svc_table_version() AS version`
    if (tables !== undefined) tablesSeen(tables.version)
    const asked = yield* Asked.rows(reading)`SELECT id FROM runs
      WHERE status = 'running' AND cancel_requested_at IS NOT NULL`
    for (const { id } of asked) report({ kind: "cancel", runId: id })
  })

  const attempted = yield* Deferred.make<void>()

  const listen = Effect.scoped(
    Effect.gen(function* () {
      const connection = yield* PgConnection.make(session)
      const notifications = yield* connection.listen(channel)
      yield* catchUp
      yield* Deferred.succeed(attempted, undefined)
      return yield* Effect.forever(Effect.map(Queue.take(notifications), heard))
    })
  )

  yield* listen.pipe(
    Effect.catchCause((cause) =>
      Effect.logWarning("Changes of other servers cannot be heard. The connection is tried again.", cause)
    ),
    Effect.andThen(Deferred.succeed(attempted, undefined)),
    Effect.andThen(Effect.sleep(retryEvery)),
    Effect.forever,
    Effect.forkScoped
  )
  yield* Deferred.await(attempted)
})
