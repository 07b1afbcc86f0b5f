import { afterAll, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Attention } from "../../../../actors/commands/attention/Attention.ts"
import type { AttentionItem } from "../../../../schema/records/AttentionItem.ts"
import { Subject, WorkspaceId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { at, id, seedCapsules } from "../../support/SeededCapsules.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

const runId = (index: number) => `run_${String(index).padStart(24, "0")}`
const snapshotId = `snap_${"a".repeat(24)}`
const stale = {
  status: "stale",
  stale_reasons: JSON.stringify([{ kind: "commit", sourceSnapshotId: snapshotId }])
}

const shown = ({ also, capsules, kind }: AttentionItem) =>
  [kind, ...also, ...capsules.map(({ name }) => name)].join(" ")

tests.live(
  "the paged attention list shows everything that a person has to handle, most serious first, with details",
  () =>
    Effect.gen(function* () {
      const { context, workspaceId } = yield* TestPlane
      const reader = { subject: Subject.make(context.actor.subject ?? "") }
      const needs = yield* Attention
      const sql = yield* SqlClient.SqlClient
      yield* seedCapsules(
        workspaceId,
        8,
        new Map<number, Readonly<Record<string, string>>>([
          [1, { status: "pending", drift_status: "unknown" }],
          [2, { drift_status: "drifted" }],
          [3, stale],
          [4, stale],
          [5, { drift_status: "drifted" }],
          [6, { status: "destroyed", drift_status: "drifted" }]
        ])
      )
      const run = (index: number, capsule: number, row: object) =>
        sql`INSERT INTO runs ${sql.insert({
          id: runId(index),
          workspace_id: workspaceId,
          capsule_id: id(capsule),
          requires_approval: 1,
          trigger_kind: "user",
          attempt: 1,
          spec: "{}",
          evidence: "{}",
          created_at: at,
          queued_at: at,
          ...row
        })}`
      yield* run(1, 1, {
        type: "plan",
        status: "failed",
        error_code: "plan_failed",
        error_message: "No such variable."
      })
      yield* run(2, 2, {
        type: "drift_check",
        status: "succeeded",
        evidence: JSON.stringify({ driftedResources: 2 })
      })
      yield* run(3, 5, {
        type: "plan",
        status: "waiting_approval",
        source_snapshot_id: snapshotId,
        resolved_commit: "c".repeat(40),
        evidence: JSON.stringify({ planSummary: { add: 1, change: 0, destroy: 2, replace: 0, import: 0, forget: 0 } })
      })
      const description = { title: "rotate base image", authorName: "Ada" }
      yield* sql`INSERT INTO source_snapshots ${sql.insert({
        id: snapshotId,
        workspace_id: workspaceId,
        source_id: `src_${"a".repeat(24)}`,
        url: "https://git.example.test/app.git",
        ref: "HEAD",
        resolved_commit: "c".repeat(40),
        path: ".",
        archive_digest: "d",
        archive_size_bytes: 1,
        file_count: 1,
        omitted: "[]",
        repository_manifest: JSON.stringify({ status: "absent" }),
        warnings: "[]",
        created_by_run_id: runId(1),
        created_at: at,
        commit_description: JSON.stringify(description)
      })}`

      const first = yield* needs.list(workspaceId, reader, { limit: 2 })
      expect(first.items.map(shown)).toEqual(["failed capsule-1", "waiting_approval drifted capsule-5"])
      expect(first.items[0]).toMatchObject({
        neverApplied: true,
        run: { id: runId(1), type: "plan", error: { code: "plan_failed", message: "No such variable." } }
      })
      expect(first.items[1]).toMatchObject({
        run: { planSummary: { add: 1, destroy: 2 } },
        commit: { id: "c".repeat(40), description }
      })
      expect(first.total).toBe(4)
      expect(first.counts).toEqual({ failed: 1, decision: 1, blocked: 0, drifted: 1, update: 1, expiring: 0 })
      expect(Object.values(first.forOthers)).toEqual([0, 0, 0, 0, 0, 0])
      expect(first.health).toEqual({
        capsules: 7,
        healthy: 2,
        unchecked: 0,
        waiting: 4,
        failed: 1,
        notApplied: 0,
        disabled: 0,
        complete: true
      })

      const second = yield* needs.list(workspaceId, reader, { limit: 2, cursor: first.nextCursor })
      expect(second.items.map(shown)).toEqual(["drifted capsule-2", "stale capsule-3 capsule-4"])
      expect(second.items[0]?.run).toMatchObject({ id: runId(2), driftedResources: 2 })
      expect(second.items[1]?.commit).toMatchObject({ id: "c".repeat(40), description })
      expect(second.nextCursor).toBeUndefined()

      const elsewhere = WorkspaceId.make(`ws_${"z".repeat(24)}`)
      expect((yield* needs.list(elsewhere, reader, { limit: 2 })).total).toBe(0)
      const refused = yield* Effect.flip(needs.list(elsewhere, reader, { limit: 2, cursor: first.nextCursor }))
      expect(refused.code).toBe("invalid_request")
    })
)
