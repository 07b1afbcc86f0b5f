import { afterAll, expect } from "bun:test"
import { Effect } from "effect"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { ReadSql } from "../../../../actors/base/database/ReadSql.ts"
import { CapsuleId, WorkspaceId } from "../../../../schema/records/Ids.ts"
import { capsulesNeedingAttention } from "../../../../schema/tables/CapsuleTables.ts"
import { attentionOf } from "../../../../src/http/handlers/Attention.ts"
import { suite } from "../../../support/Effect.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { id, seedCapsules } from "../../support/SeededCapsules.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

tests.live("the query finds exactly the Capsules of the Workspace that need attention", () =>
  Effect.gen(function* () {
    const { workspaceId } = yield* TestPlane
    const capsules = yield* Capsules
    yield* seedCapsules(
      workspaceId,
      130,
      new Map([
        [3, { status: "destroyed", drift_status: "drifted" }],
        [101, { drift_status: "drifted", updated_at: "2026-01-04T00:00:00.000Z" }],
        [110, { status: "stale", updated_at: "2026-01-02T00:00:00.000Z" }],
        [119, { status: "error", runtime_safety: "unknown", updated_at: "2026-01-03T00:00:00.000Z" }]
      ])
    )
    const needingAttention = yield* capsules.needingAttention(workspaceId)
    expect(needingAttention.map(({ name }) => name)).toEqual(["capsule-101", "capsule-119", "capsule-110"])
    expect(attentionOf({ needingAttention }).map(({ capsuleName, kind }) => [kind, capsuleName])).toEqual([
      ["unknown_safety", "capsule-119"],
      ["failed", "capsule-119"],
      ["drifted", "capsule-101"],
      ["stale", "capsule-110"]
    ])
    expect(yield* capsules.needingAttention(WorkspaceId.make(`ws_${"z".repeat(24)}`))).toEqual([])
    const read = yield* ReadSql
    const plan = yield* read<{ detail: string }>`EXPLAIN QUERY PLAN SELECT id FROM capsules
      WHERE workspace_id = ${workspaceId} AND ${read.literal(capsulesNeedingAttention)} ORDER BY updated_at DESC, id LIMIT 100`
    expect(plan.map(({ detail }) => detail).join(" ")).toContain("capsules_in_need")
    const names = yield* capsules.names([CapsuleId.make(id(129)), CapsuleId.make(id(999))])
    expect([...names]).toEqual([[id(129), "capsule-129"]])
  })
)
