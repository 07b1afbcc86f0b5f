import { Effect, Latch, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { rowShape } from "../../../actors/base/database/Table.ts"

/** End of the application name of a server's sessions. The sessions of a migration and of a move may pause. */
export const serverMark = " node"

/** Time for which a statement waits before its server looks for the session that blocks it. */
const patienceMillis = 1000

const Ended = rowShape({ pid: Schema.Int, release: Schema.String, is_ended: Schema.Int })

export interface SilentSessionsOptions {
  /** Runs statements that do not wait for the write lock. */
  readonly sql: SqlClient.SqlClient
  /** PostgreSQL's text for the time after which a session that blocks others ends, or "0" if it may pause for any time. */
  readonly after: string
}

/** Records the statements that have not been answered yet. */
export interface StatementWatch {
  /** Records a statement, and returns the effect that forgets it. */
  readonly begun: () => Effect.Effect<void>
}

/**
 * Ends sessions of servers that block a statement of this server and have been waiting for their own client for too long.
 * `idle_in_transaction_session_timeout` covers a client that stops between two statements. While PostgreSQL waits for the
 * rest of a statement, or for the client to read an answer, no time limit applies, so a server that was frozen or
 * disconnected there would keep its locks.
 */
export const endSilentSessions = Effect.fn("endSilentSessions")(function* ({ after, sql }: SilentSessionsOptions) {
  const waiting = new Set<{ readonly since: number }>()
  const late = yield* Latch.make()
  let timer: ReturnType<typeof setTimeout> | undefined

  // A real timer, because the statements wait for a real server. It runs only while a statement does.
  const arm = () => {
    timer ??= setTimeout(() => {
      timer = undefined
      if (waiting.size === 0) return
      for (const { since } of waiting) {
        if (performance.now() - since >= patienceMillis) late.openUnsafe()
      }
      arm()
    }, patienceMillis)
  }
  yield* Effect.addFinalizer(() => Effect.sync(() => clearTimeout(timer)))

  const look = Effect.gen(function* () {
    const ended = yield* Ended.rows(sql)`SELECT pid, application_name AS release, pg_terminate_backend(pid) AS is_ended
      FROM pg_stat_activity
      WHERE datname = current_database() AND application_name LIKE ${`svc %${serverMark}`} AND xact_start IS NOT NULL
        AND wait_event_type = 'Client' AND state_change < clock_timestamp() - CAST(${after} AS interval)
        AND pid IN (SELECT unnest(pg_blocking_pids(pid)) FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock')`
    for (const { pid, release } of ended) {
      yield* Effect.logWarning(
        `Ended the database session ${pid} of ${release}, which was silent and blocked other servers`
      )
    }
  })

  if (after !== "0") {
    yield* late.await.pipe(
      Effect.andThen(late.close),
      Effect.andThen(look),
      Effect.catchCause((cause) => Effect.logWarning("The sessions that block this server could not be read.", cause)),
      Effect.forever,
      Effect.forkScoped
    )
  }

  const watch: StatementWatch = {
    begun: () => {
      const statement = { since: performance.now() }
      waiting.add(statement)
      arm()
      return Effect.sync(() => void waiting.delete(statement))
    }
  }
  return watch
})
