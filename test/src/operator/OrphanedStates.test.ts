import { describe, expect } from "bun:test"
import { stat } from "node:fs/promises"
import { Context, Effect, FileSystem, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { OrphanedStates } from "../../../actors/ledger/state/OrphanedStates.ts"
import { RunCheckpoints } from "../../../actors/ledger/state/RunCheckpoints.ts"
import { representativeRows } from "../database/support/RepresentativeRows.ts"
import { folder, live, svc } from "../cli/support/CommandLine.ts"
import { CapsuleId, RunId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { serve } from "./support/Server.ts"

const needed = ["users", "workspaces", "projects", "sources", "install_configs", "capsules", "runs"]
const of = (prefix: string, letter: string) => `${prefix}_${letter.repeat(24)}`
const secret = "canary-left-over-password"
// Larger than any response that a client normally accepts.
const bytes = new TextEncoder().encode(`{"torn": "${secret}"`.padEnd(17 * 1024 * 1024))

/** Prepares a server on a separate data folder, in which an apply has left an incomplete state file. */
const furnished = Effect.gen(function* () {
  const root = yield* folder
  const dataDir = `${root}/data`
  const admin = (...args: ReadonlyArray<string>) =>
    svc(["admin", "left-over-states", ...args, "--data-dir", dataDir, "--json"])
  const world = Effect.gen(function* () {
    const { logged, services } = yield* serve(dataDir)
    return yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const built = yield* Layer.build(OrphanedStates.layer.pipe(Layer.provide(RunCheckpoints.layer)))
      const leftOvers = Context.get(built, OrphanedStates)
      for (const [table, values] of representativeRows) {
        if (!needed.includes(table) || (table === "runs" && values["id"] !== of("run", "b"))) continue
        yield* sql`INSERT INTO ${sql(table)} ${sql.insert(values)} ON CONFLICT DO NOTHING`
      }
      yield* leftOvers.keep({
        capsule: {
          id: CapsuleId.make(of("cap", "b")),
          workspace_id: WorkspaceId.make(of("ws", "a")),
          current_state_version_id: null,
          current_state_generation: 1,
          execution_authority_epoch: 1
        },
        runId: RunId.make(of("run", "b")),
        reason: "unreadable",
        left: yield* leftOvers.read(Redacted.make(bytes)),
        settled: undefined,
        secrets: [],
        build: undefined
      })
      const [row] = yield* sql<{ id: string }>`SELECT id FROM left_over_states`
      const id = row?.id ?? (yield* Effect.die("nothing was kept"))
      const audit = sql<{ workspace_id: string; target_id: string }>`SELECT workspace_id, target_id FROM audit_events
        WHERE action = 'left_over_state.download' ORDER BY rowid`
      return { audit: Effect.provide(audit, services), id, logged, sql }
    }).pipe(Effect.provide(services))
  })
  return { admin, dataDir, root, world }
})

describe("Left-over states", () => {
  live("the operator lists and downloads left-over states of any size while the server runs", () =>
    Effect.gen(function* () {
      const { admin, root, world } = yield* furnished
      const { audit, id, logged, sql } = yield* world
      const listed = yield* admin("list")
      expect(listed.error).toBe("")
      expect(JSON.parse(listed.out).leftOverStates).toMatchObject([
        { id, reason: "unreadable", serial: null, size_bytes: bytes.length, run_id: of("run", "b") }
      ])
      expect(listed.out).not.toContain(secret)

      const out = `${root}/left.tfstate`
      const files = yield* FileSystem.FileSystem
      const done = yield* admin("download", id, "--out", out)
      expect([done.code, done.error]).toEqual([0, ""])
      expect(done.out).not.toContain(secret)
      expect(Buffer.compare(yield* files.readFile(out), bytes)).toBe(0)
      expect((yield* Effect.promise(() => stat(out))).mode & 0o777).toBe(0o600)
      expect(yield* audit).toEqual([{ workspace_id: WorkspaceId.make(of("ws", "a")), target_id: id }])

      yield* files.writeFileString(out, "mine")
      const again = yield* admin("download", id, "--out", out)
      expect([again.code, again.error]).toEqual([2, expect.stringContaining("exists already")])
      expect(yield* files.readFileString(out)).toBe("mine")
      expect((yield* admin("download", of("lo", "z"), "--out", `${root}/none`)).code).toBe(5)
      expect(yield* audit).toHaveLength(1)

      yield* sql`UPDATE left_over_states SET state = NULL, discarded_at = created_at`
      const erased = yield* admin("download", id, "--out", `${root}/erased`)
      expect([erased.code, erased.error]).toEqual([6, expect.stringContaining("was erased")])
      expect(yield* files.exists(`${root}/erased`)).toBe(false)
      expect(yield* logged).not.toContain(secret)
    })
  )

  live("without a server, the operator can list and download left-over states in the same way", () =>
    Effect.gen(function* () {
      const { admin, root, world } = yield* furnished
      const { id } = yield* Effect.scoped(world)
      const out = `${root}/left.tfstate`
      expect((yield* admin("download", id, "--out", out)).code).toBe(0)
      expect(Buffer.compare(yield* (yield* FileSystem.FileSystem).readFile(out), bytes)).toBe(0)
    })
  )
})
