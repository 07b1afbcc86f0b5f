import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { folder, live, svc } from "../cli/support/CommandLine.ts"
import { representativeRows } from "../database/support/RepresentativeRows.ts"
import { serve } from "./support/Server.ts"

const of = (prefix: string, letter: string) => `${prefix}_${letter.repeat(24)}`
const needed = ["users", "workspaces", "projects", "sources", "install_configs", "capsules", "runs"]
const apply = of("run", "b")

/** Creates an installation with one log that was completed `days` ago. */
const furnished = Effect.fnUntraced(function* (days: number) {
  const sql = yield* SqlClient.SqlClient
  for (const [table, values] of representativeRows) {
    if (needed.includes(table)) yield* sql`INSERT INTO ${sql(table)} ${sql.insert(values)} ON CONFLICT DO NOTHING`
  }
  const ended = new Date(Date.now() - days * 86_400_000).toISOString()
  yield* sql`UPDATE runs SET status = 'failed', log_ended_at = ${ended}, last_log_seq = 1,
    created_at = '2000-01-01T00:00:00.000Z' WHERE id = ${apply}`
  yield* sql`INSERT INTO run_log_chunks ${sql.insert({ run_id: apply, first_seq: 1, last_seq: 1, bytes: 70, entries: "[]" })}`
})

describe("svc prune", () => {
  live("svc admin lists and deletes expired records, with and without a running server", () =>
    Effect.gen(function* () {
      const dataDir = `${yield* folder}/data`
      const prune = (...more: ReadonlyArray<string>) => svc(["prune", "--data-dir", dataDir, "--json", ...more])
      const expected = [{ kind: "logs", workspaceId: of("ws", "a"), workspace: "alpha", runs: 1, bytes: 70 }]
      yield* Effect.gen(function* () {
        const { logged, services } = yield* serve(dataDir, new Map([["keepLogs", "30"]]))
        // Waits for the first pass of the background job, which finds nothing to remove.
        yield* Effect.provide(furnished(20), services)
        const young = yield* prune("--dry-run")
        expect([young.code, JSON.parse(young.out)]).toEqual([0, { dryRun: true, removed: [], kept: [] }])
        const sql = Effect.provide(SqlClient.SqlClient, services)
        const longAgo = new Date(Date.now() - 40 * 86_400_000).toISOString()
        yield* Effect.flatMap(sql, (sql) => sql`UPDATE runs SET log_ended_at = ${longAgo} WHERE id = ${apply}`)
        const dry = yield* prune("--dry-run")
        expect([dry.code, JSON.parse(dry.out)]).toEqual([0, { dryRun: true, removed: expected, kept: [] }])
        expect(JSON.parse((yield* prune()).out)).toEqual({ dryRun: false, removed: expected, kept: [] })
        expect(JSON.parse((yield* prune()).out)).toEqual({ dryRun: false, removed: [], kept: [] })
        expect(yield* logged).toContain("svc prune")
        yield* Effect.flatMap(sql, (sql) => sql`UPDATE runs SET log_removed_at = NULL WHERE id = ${apply}`)
      }).pipe(Effect.scoped)
      // Without a running server, the command's own flag sets the retention period of logs.
      const kept = yield* prune("--dry-run", "--keep-logs", "60")
      expect([kept.code, JSON.parse(kept.out).removed]).toEqual([0, []])
      const without = yield* prune("--keep-logs", "30")
      expect([without.code, JSON.parse(without.out).removed]).toEqual([0, [{ ...expected[0], bytes: 0 }]])
      expect((yield* prune("--keep-logs", "1")).code).not.toBe(0)
    })
  )
})
