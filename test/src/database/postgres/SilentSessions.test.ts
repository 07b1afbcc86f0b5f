import { describe, expect } from "bun:test"
import { Context, Effect, Exit, Fiber, Layer, type Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowShape } from "../../../../actors/base/database/Table.ts"
import { withoutWriteLock } from "../../../../actors/base/database/WriteLock.ts"
import { layerClients, SessionLimits } from "../../../../src/database/postgres/PostgresClient.ts"
import { it } from "../../../support/Effect.ts"
import { hasPostgres, migratedDatabase } from "../../../support/PostgresTests.ts"
import { type Place, stoppingLine } from "./support/StoppingLine.ts"

const Setting = rowShape({ name: Schema.String, value: Schema.String })

/** A writer fails if it waits for longer than this, so a session that is not ended makes a test fail. */
const limits = Layer.succeed(SessionLimits, { idleInTransaction: "1s", lock: "8s" })

const server = (url: Redacted.Redacted, listens = true) =>
  Effect.map(
    Layer.build(layerClients(url, { exclusive: false, listens }).pipe(Layer.provide(limits))),
    Context.get(SqlClient.SqlClient)
  )

const mark = "a statement that the line knows"

const places: ReadonlyArray<readonly [Place, string]> = [
  ["before", "after BEGIN was answered, and before its next statement"],
  ["inside the text", "in the middle of a statement's text"],
  ["before the values", "between the text and the values of a statement"],
  ["in the answer", "while PostgreSQL sends a long answer"]
]

/** Longer than the buffers between PostgreSQL and its client. */
const longAnswer = 20_000_000

describe.skipIf(!hasPostgres)("Silent sessions", () => {
  for (const [place, title] of places) {
    for (const isLocked of [true, false]) {
      it.live(
        `a server that stops ${title} in a transaction ${isLocked ? "with" : "without"} the write lock does not stop other servers`,
        () =>
          Effect.gen(function* () {
            const url = yield* migratedDatabase
            const line = yield* stoppingLine(url, mark, place)
            const silent = yield* server(line.url)
            const other = yield* server(url)
            const transaction = silent.withTransaction(
              Effect.gen(function* () {
                yield* silent`UPDATE installation SET incarnation = 6`
                yield* silent`SELECT CAST(${mark} AS TEXT) AS mark, repeat('x', CAST(${longAnswer} AS INTEGER)) AS answer
                  /* ${silent.literal(mark)} */`
              })
            )
            const failing = yield* Effect.forkChild(Effect.exit(isLocked ? transaction : withoutWriteLock(transaction)))
            yield* line.stopped
            yield* other`UPDATE installation SET incarnation = 7 WHERE incarnation = 0`
            yield* line.reset
            expect(Exit.isFailure(yield* Fiber.join(failing))).toBe(true)
            expect(yield* other`SELECT incarnation FROM installation`).toEqual([{ incarnation: 7 }])
            // The silent server opens a new session.
            yield* silent`UPDATE installation SET incarnation = 8`
          }),
        30_000
      )
    }
  }

  it.live(
    "the session of a migration may be silent, and so may one that blocks nobody",
    () =>
      Effect.gen(function* () {
        const url = yield* migratedDatabase
        const line = yield* stoppingLine(url, mark, "before the values")
        const migrating = yield* server(line.url, false)
        const other = yield* server(url)
        yield* Effect.forkChild(
          Effect.exit(
            migrating.withTransaction(migrating`SELECT CAST(${mark} AS TEXT) /* ${migrating.literal(mark)} */`)
          )
        )
        yield* line.stopped
        expect(String(yield* Effect.exit(other`UPDATE installation SET incarnation = 7`))).toContain("lock")
        yield* line.reset
      }),
    30_000
  )

  it.live("PostgreSQL looks for gone machines and clients of every session within seconds", () =>
    Effect.gen(function* () {
      const sql = yield* server(yield* migratedDatabase)
      // The present value is 0 for a Unix socket.
      const settings = (client: SqlClient.SqlClient) => Setting.rows(client)`SELECT name, reset_val AS value
        FROM pg_settings WHERE name LIKE 'tcp_%' OR name = 'client_connection_check_interval' ORDER BY name`
      const expected = [
        { name: "client_connection_check_interval", value: "2000" },
        { name: "tcp_keepalives_count", value: "3" },
        { name: "tcp_keepalives_idle", value: "5" },
        { name: "tcp_keepalives_interval", value: "2" },
        { name: "tcp_user_timeout", value: "10000" }
      ]
      expect(yield* settings(sql)).toEqual(expected)
      expect(yield* sql.withTransaction(settings(sql))).toEqual(expected)
      expect(yield* withoutWriteLock(sql.withTransaction(settings(sql)))).toEqual(expected)
    })
  )
})
