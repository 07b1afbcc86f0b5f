import { expect, test } from "bun:test"
import { type FollowedPlan, personNeeded } from "../../../../actors/commands/capsule/FollowedPlanDecision.ts"
import { InstallConfigId } from "../../../../schema/records/Ids.ts"

const config = InstallConfigId.make("icfg_00000000000000000000000a")
const commit = "1".repeat(40)
const nothing = { add: 0, change: 0, destroy: 0, replace: 0, import: 0, forget: 0 }

const followed: FollowedPlan = {
  capsule: { auto_update_enabled: 1, auto_update_apply: 1, pinned_at: null, pinned_reason: null },
  plan: { install_config_id: config, resolved_commit: commit },
  summary: { ...nothing, add: 2, change: 1, import: 1 },
  appliedConfigId: config,
  laneCommit: commit,
  sourceStopped: undefined,
  automationRefusal: undefined
}
const { capsule } = followed

test("a followed plan without destructive changes is applied if the owner chose automatic applies", () => {
  expect(personNeeded(followed)).toBeUndefined()
  expect(personNeeded({ ...followed, summary: nothing })).toBeUndefined()
})

const waits: ReadonlyArray<readonly [reason: string, different: Partial<FollowedPlan>]> = [
  ["review", { capsule: { ...capsule, auto_update_enabled: 0 } }],
  ["review", { capsule: { ...capsule, auto_update_apply: 0 } }],
  ["review", { summary: undefined }],
  ["destroys", { summary: { ...nothing, destroy: 1 } }],
  ["destroys", { summary: { ...nothing, replace: 1 } }],
  ["destroys", { summary: { ...nothing, forget: 1 } }],
  ["configuration", { appliedConfigId: undefined }],
  ["configuration", { appliedConfigId: InstallConfigId.make("icfg_00000000000000000000000b") }],
  ["pinned", { capsule: { ...capsule, pinned_at: "2026-01-01T00:00:00.000Z", pinned_reason: "Held." } }],
  ["lane_moved", { laneCommit: "2".repeat(40) }],
  ["lane_moved", { laneCommit: null }],
  ["lane_moved", { laneCommit: undefined }],
  ["source_stopped", { sourceStopped: "The Source is disabled." }],
  ["automation_paused", { automationRefusal: "the Workspace is archived" }]
]

test.each(waits.map(([reason, different]) => [reason, JSON.stringify(different), different] as const))(
  "%s: with %s, the plan waits for a person",
  (reason, _shown, different) => {
    expect(personNeeded({ ...followed, ...different })?.[0]).toBe(reason)
  }
)

test("the message of a waiting plan contains the number of resources that the plan would destroy", () => {
  const summary = { ...nothing, destroy: 1, replace: 2, forget: 3 }
  expect(personNeeded({ ...followed, summary })?.[1]).toContain(": 6 of them")
})
