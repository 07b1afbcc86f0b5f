import { afterAll, beforeEach, expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Audit } from "../../../../actors/base/audit/Audit.ts"
import { CapsuleRuns } from "../../../../actors/commands/capsule/CapsuleRuns.ts"
import { followLane } from "../../../../actors/commands/capsule/LaneFollowing.ts"
import { SourceLanes } from "../../../../actors/ledger/source/SourceLanes.ts"
import type { SourceRow } from "../../../../actors/ledger/source/SourceRow.ts"
import { SourceStore } from "../../../../actors/ledger/source/SourceStore.ts"
import { world } from "../../../src/http/support/World.ts"
import type { RunTrigger } from "../../../../schema/records/Run.ts"
import { suite } from "../../../support/Effect.ts"
import { ledgers, snapshot } from "../../support/GuardedPlane.ts"

const planned: Array<string> = []

const at = "2026-01-01T00:00:00.000Z"
const source: SourceRow = {
  id: snapshot.source_id,
  workspace_id: world.workspaceA,
  name: "app",
  url: snapshot.url,
  default_ref: "HEAD",
  default_ref_by_manager: 0,
  default_path: ".",
  auth_connection_id: null,
  auth_connection_by: null,
  hook_secret_at: null,
  former_hook_secret: null,
  former_hook_secret_until: null,
  auto_sync: 1,
  status: "active",
  hook_secret: "sealed",
  hook_secret_version: 1,
  last_synced_at: at,
  removed_at: null,
  unread_due: null,
  last_delivery_at: null,
  last_delivery_verdict: null,
  last_delivery_runs: null,
  reviewed_refs: "[]",
  forge_connection_id: null,
  pull_requests: "static",
  pull_requests_by: null,
  created_at: at,
  updated_at: at
}
let sourceChanges: Partial<SourceRow> = {}

const tests = suite(
  Layer.mergeAll(
    SourceLanes.layer,
    Layer.mock(SourceStore)({
      find: () => Effect.sync(() => ({ ...source, ...sourceChanges })),
      findSnapshot: () => Effect.succeed(snapshot)
    }),
    Layer.mock(Audit)({ append: () => Effect.void }),
    Layer.mock(CapsuleRuns)({ create: (capsule) => Effect.sync(() => void planned.push(capsule.id)) })
  ).pipe(Layer.provideMerge(ledgers))
)
afterAll(tests.dispose)

type Columns = Readonly<Record<string, string | number | null>>
const change = (table: string, columns: Columns) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE ${sql(table)} SET ${sql.update(columns)}`)

/** Sets up a Capsule that follows its lane and is behind it by one commit. */
const behind = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DELETE FROM auto_update_decisions`
  yield* change("workspaces", { archived_at: null })
  yield* change("capsules", {
    status: "stale",
    stale_reasons: JSON.stringify([{ kind: "commit", sourceSnapshotId: snapshot.id }]),
    auto_update_enabled: 1,
    adopted_ref: snapshot.ref,
    adopted_path: snapshot.path,
    adopted_commit: "1".repeat(40),
    path_filter: 0,
    pinned_at: null,
    pinned_commit: null,
    pin_ends_on_commit: 0
  })
  yield* (yield* SourceLanes).seen(snapshot.source_id, snapshot, {
    snapshotId: snapshot.id,
    commit: snapshot.resolved_commit,
    lookedAt: "2026-01-01T00:00:00.000Z"
  })
  yield* change("source_lanes", { resolved_commit: snapshot.resolved_commit })
})

/** Returns the reason for the decision about the commit, or `undefined` if there was no decision. */
const decisionOn = Effect.fnUntraced(function* (look: RunTrigger | undefined) {
  const sql = yield* SqlClient.SqlClient
  yield* followLane(world.capsuleId, snapshot.id, look)
  const [row] = yield* sql`SELECT reason FROM auto_update_decisions`
  return row?.["reason"]
})
const decision = decisionOn("user")

beforeEach(() => {
  planned.splice(0)
  sourceChanges = {}
})

tests.live("a newer commit in a Capsule's lane is planned once", () =>
  Effect.gen(function* () {
    yield* behind
    expect(yield* decision).toBe("planned")
    yield* decision
    expect(planned).toEqual([world.capsuleId])
  })
)

const inputAlone = JSON.stringify([{ kind: "input", producerCapsuleId: world.capsuleId }])

const others: ReadonlyArray<readonly [decision: string | undefined, table: string, columns: Columns]> = [
  [undefined, "capsules", { auto_update_enabled: 0 }],
  [undefined, "capsules", { status: "destroyed" }],
  [undefined, "capsules", { adopted_ref: "refs/heads/other" }],
  [undefined, "capsules", { adopted_path: "other" }],
  ["lane_moved", "source_lanes", { resolved_commit: "2".repeat(40) }],
  ["already_applied", "capsules", { adopted_commit: snapshot.resolved_commit }],
  ["capsule_not_ready", "capsules", { status: "error" }],
  ["capsule_not_ready", "capsules", { stale_reasons: inputAlone }],
  ["untouched", "capsules", { stale_reasons: inputAlone, path_filter: 1 }],
  ["pinned", "capsules", { pinned_at: "2026-01-01T00:00:00.000Z", pinned_commit: "3".repeat(40) }],
  ["automation_paused", "workspaces", { archived_at: "2026-01-01T00:00:00.000Z" }]
]

for (const [expected, table, columns] of others) {
  tests.live(`a newer commit is not planned for a Capsule with ${JSON.stringify(columns)}`, () =>
    Effect.gen(function* () {
      yield* behind
      yield* change(table, columns)
      expect(yield* decision).toBe(expected)
      expect(planned).toEqual([])
    })
  )
}

for (const changes of [{ status: "disabled" }, { removed_at: at }] as const) {
  tests.live(
    `a commit is not planned for a Source with ${JSON.stringify(changes)}, even if a person requested the check`,
    () =>
      Effect.gen(function* () {
        yield* behind
        sourceChanges = changes
        for (const look of ["user", "webhook"] as const) expect(yield* decisionOn(look)).toBe("source_stopped")
        expect(planned).toEqual([])
      })
  )
}

tests.live("without autoSync a commit is planned only if a person requested the check", () =>
  Effect.gen(function* () {
    yield* behind
    sourceChanges = { auto_sync: 0 }
    // `undefined` represents a message from an earlier release. Such messages do not record what triggered the check.
    for (const look of ["webhook", "schedule", undefined] as const) {
      expect(yield* decisionOn(look)).toBe("source_stopped")
      expect(planned).toEqual([])
    }
    expect(yield* decisionOn("user")).toBe("planned")
    expect(planned).toEqual([world.capsuleId])
  })
)

tests.live("a newer commit releases a Capsule that was pinned until the next commit", () =>
  Effect.gen(function* () {
    yield* behind
    const pin = { pinned_at: "2026-01-01T00:00:00.000Z", pin_ends_on_commit: 1 }
    yield* change("capsules", { ...pin, pinned_commit: snapshot.resolved_commit })
    expect(yield* decision).toBe("pinned")
    yield* change("capsules", { pinned_commit: "3".repeat(40) })
    expect(yield* decision).toBe("planned")
    expect(planned).toEqual([world.capsuleId])
  })
)
