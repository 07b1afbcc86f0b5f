import { expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { migrate } from "../../../src/database/Migrations.ts"
import { it } from "../../support/Effect.ts"
import { at, beforeMigration, run } from "./support/EarlierRelease.ts"

const later = "2026-01-01T00:01:00.000Z"

it.live("migrated Runs keep their attempts and sequences, and get an owner that has exited", () =>
  beforeMigration(
    30,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const started = { started_at: at, attempt: 2 }
      const rows = [
        { id: "run_queued", status: "queued", attempt: 0, owner: null },
        { id: "run_running", status: "running", ...started, owner: "1f0c7bd2-7f0e-4c5b-a0c9-94b7ff1f57f8" },
        { id: "run_waiting", status: "waiting_approval", ...started, owner: null },
        { id: "run_ended", status: "failed", ...started, owner: null, finished_at: later }
      ]
      for (const row of rows) yield* sql`INSERT INTO runs ${sql.insert({ ...run, ...row })}`
      for (const seq of [1, 2, 3]) {
        yield* sql`INSERT INTO run_events ${sql.insert({ run_id: "run_running", seq, at, kind: "run.phase", data: "{}" })}`
      }
      yield* sql`INSERT INTO run_log_chunks ${sql.insert({ run_id: "run_running", first_seq: 1, last_seq: 7, bytes: 9, entries: "[]" })}`
      yield* migrate
      const [installation] = yield* sql`SELECT installation_id || '#0' AS owner FROM installation`
      const migrated = yield* sql`SELECT id, owner, fence, pool, last_event_seq, last_log_seq, log_ended_at
        FROM runs ORDER BY id`
      const common = { owner: null, pool: "local", last_event_seq: 0, last_log_seq: 0, log_ended_at: null }
      expect(migrated.map((row) => ({ ...row }))).toEqual([
        { ...common, id: "run_ended", fence: 2, log_ended_at: later },
        { ...common, id: "run_queued", fence: 0 },
        { ...common, id: "run_running", fence: 2, owner: installation?.["owner"], last_event_seq: 3, last_log_seq: 7 },
        { ...common, id: "run_waiting", fence: 2, log_ended_at: at }
      ])
    })
  )
)
