import { describe, expect, test } from "bun:test"
import {
  capsuleItems,
  comparePlaces,
  placeOf,
  type Records
} from "../../../../actors/commands/attention/AttentionDecision.ts"
import {
  mostCapsules,
  type PlanRow,
  type SnapshotCommit,
  type StandingRow
} from "../../../../actors/commands/attention/AttentionRows.ts"
import type { AttentionKind } from "../../../../schema/records/AttentionItem.ts"
import {
  CapsuleId,
  RunGroupId,
  RunId,
  SourceId,
  SourceSnapshotId,
  StateVersionId
} from "../../../../schema/records/Ids.ts"

const at = "2026-01-01T00:00:00.000Z"
const later = "2026-01-02T00:00:00.000Z"
const capsuleId = (index: number) => CapsuleId.make(`cap_${String(index).padStart(24, "0")}`)
const runId = (index: number) => RunId.make(`run_${String(index).padStart(24, "0")}`)
const sourceId = SourceId.make(`src_${"a".repeat(24)}`)
const snapshotId = (index: number) => SourceSnapshotId.make(`snap_${String(index).padStart(24, "0")}`)

const capsule = (index: number, change: Partial<StandingRow> = {}): StandingRow => ({
  id: capsuleId(index),
  name: `capsule-${index}`,
  environment: "production",
  status: "active",
  runtime_safety: "safe",
  drift_status: "none",
  drift_checked_at: at,
  stale_reasons: "[]",
  credential_wait: null,
  pinned_commit: null,
  current_state_version_id: null,
  updated_at: at,
  run_id: runId(index),
  run_type: "apply",
  run_status: "succeeded",
  run_at: at,
  drift_run_id: null,
  left_over_at: null,
  ...change
})

const plan = (index: number, about: number, change: Partial<PlanRow> = {}): PlanRow => ({
  id: runId(index),
  capsule_id: capsuleId(about),
  type: "plan",
  approved_at: null,
  at,
  ...change
})

const behind = (index: number, snapshot: number) =>
  capsule(index, {
    status: "stale",
    stale_reasons: JSON.stringify([{ kind: "commit", sourceSnapshotId: snapshotId(snapshot) }])
  })

const commit = (snapshot: number, resolved_commit: string): readonly [SourceSnapshotId, SnapshotCommit] => [
  snapshotId(snapshot),
  { id: snapshotId(snapshot), source_id: sourceId, resolved_commit, commit_description: null, created_at: later }
]

const decided = (records: Partial<Records>) =>
  capsuleItems({ capsules: [], waiting: [], approved: [], updates: [], commits: new Map(), ...records })

const wait = JSON.stringify({
  runId: runId(1),
  since: at,
  provider: "aws",
  moduleLocalName: "aws",
  reason: "No Connection is bound.",
  turn: "admin",
  next: "Bind one."
})

describe("a Capsule", () => {
  const cases: ReadonlyArray<readonly [string, Partial<StandingRow>, Partial<Records>, ReadonlyArray<AttentionKind>]> =
    [
      ["that is sound needs nobody", {}, {}, []],
      ["whose first plan failed", { status: "pending", run_type: "plan", run_status: "failed" }, {}, ["failed"]],
      ["whose apply failed", { run_status: "failed" }, {}, ["failed"]],
      ["whose drift check failed", { run_type: "drift_check", run_status: "failed" }, {}, ["check_failed"]],
      ["that is disabled, with a failed Run", { status: "disabled", run_status: "failed" }, {}, []],
      [
        "of unknown safety has failed without saying",
        { status: "error", runtime_safety: "unknown", run_status: "failed" },
        {},
        ["unknown_safety"]
      ],
      [
        "with a state that an apply left behind, and a plan that does not know it",
        { left_over_at: later },
        { waiting: [plan(9, 1)] },
        ["uncertain_ground", "waiting_approval"]
      ],
      ["in error without a failed Run", { status: "error" }, {}, ["failed"]],
      [
        "without a credential fails for that reason",
        { run_status: "failed", credential_wait: wait },
        {},
        ["waiting_credential"]
      ],
      [
        "without a credential that failed once more",
        { run_status: "failed", run_id: runId(9), credential_wait: wait },
        {},
        ["failed", "waiting_credential"]
      ],
      [
        "with a plan to approve that also drifted",
        { drift_status: "drifted" },
        { waiting: [plan(2, 1)] },
        ["waiting_approval", "drifted"]
      ],
      ["with an approved plan is not to be planned", { status: "stale" }, { approved: [plan(2, 1)] }, ["approved"]],
      [
        "with a waiting plan is not to be planned",
        { status: "stale" },
        { waiting: [plan(2, 1)] },
        ["waiting_approval"]
      ],
      ["that is behind", { status: "stale" }, {}, ["stale"]]
    ]
  for (const [title, change, records, expected] of cases) {
    test(title, () => {
      const [entry, ...others] = decided({ capsules: [capsule(1, change)], ...records }).entries
      expect(others).toEqual([])
      expect(entry === undefined ? [] : [entry.kind, ...entry.also]).toEqual([...expected])
    })
  }

  test("a Capsule's attention entry shows the newest of the Capsule's waiting plans", () => {
    const { entries } = decided({ capsules: [capsule(1)], waiting: [plan(2, 1), plan(3, 1, { at: later })] })
    expect(entries.map(({ runId }) => runId)).toEqual([runId(3)])
  })

  test("a Capsule that was never applied appears in the attention list with the failure that prevented its first apply", () => {
    const current_state_version_id = StateVersionId.make(`sv_${"a".repeat(24)}`)
    const neverApplied = (change: Partial<StandingRow>) =>
      decided({ capsules: [capsule(1, { run_status: "failed", ...change })] }).entries[0]?.neverApplied
    expect([neverApplied({}), neverApplied({ current_state_version_id })]).toEqual([true, undefined])
  })
})

describe("one commit", () => {
  const commits = new Map([commit(1, "c".repeat(40)), commit(2, "c".repeat(40)), commit(3, "d".repeat(40))])

  test("Capsules that wait for the same commit share an attention entry, even if their module paths differ", () => {
    const { entries } = decided({ capsules: [behind(1, 1), behind(2, 2), behind(3, 3)], commits })
    expect(entries.map(({ capsules, key }) => [key, capsules.map(({ name }) => name)])).toEqual([
      [`commit ${sourceId} ${"c".repeat(40)}`, ["capsule-1", "capsule-2"]],
      [capsuleId(3), ["capsule-3"]]
    ])
  })

  test("a waiting commit is not listed for a Capsule with a more serious problem", () => {
    const drifted = { ...behind(2, 2), drift_status: "drifted" as const }
    const { entries } = decided({ capsules: [behind(1, 1), drifted], commits })
    expect(entries.map(({ kind, also }) => [kind, ...also]).sort()).toEqual([["drifted", "stale"], ["stale"]])
  })

  test("the list does not suggest the commit from which a Capsule was rolled back, but suggests a later commit", () => {
    const kinds = (pinned_commit: string) =>
      decided({ capsules: [{ ...behind(1, 1), pinned_commit }], commits }).entries.map(({ kind }) => kind)
    expect(kinds("c".repeat(40))).toEqual([])
    expect(kinds("d".repeat(40))).toEqual(["stale"])
  })

  test("an update is not suggested for Capsules in an open update, even while that update is paused", () => {
    const id = RunGroupId.make(`rgrp_${"a".repeat(24)}`)
    const update = (held_reason: string | null) => ({ id, created_at: at, held_reason, capsules: [capsuleId(1)] })
    const kinds = (held: string | null) =>
      decided({ capsules: [behind(1, 1)], commits, updates: [update(held)] }).entries.map((entry) => [
        entry.kind,
        entry.reason,
        entry.capsules.length
      ])
    expect(kinds(null)).toEqual([["update_open", undefined, 1]])
    expect(kinds("Automation is paused.")).toEqual([["update_held", "Automation is paused.", 1]])
  })
})

test("a plan without a Capsule has its own attention entry", () => {
  const { entries } = decided({ waiting: [plan(7, 1), plan(8, 1, { capsule_id: null })] })
  expect(entries.map(({ key, kind }) => [key, kind])).toEqual([
    [runId(7), "waiting_approval"],
    [runId(8), "waiting_approval"]
  ])
})

test("every Capsule is counted once in the attention list, under its most serious reason", () => {
  const { health } = decided({
    capsules: [
      capsule(1),
      capsule(2, { drift_status: "unknown" }),
      capsule(3, { drift_status: "drifted", run_status: "failed" }),
      capsule(4, { drift_status: "drifted" }),
      capsule(5, { status: "pending" }),
      capsule(6, { status: "disabled" })
    ]
  })
  expect(health).toEqual({
    capsules: 6,
    healthy: 1,
    unchecked: 1,
    failed: 1,
    waiting: 1,
    notApplied: 1,
    disabled: 1,
    complete: true
  })
})

test("the attention counts are marked incomplete if the Workspace has more Capsules than the query reads", () => {
  const capsules = Array.from({ length: mostCapsules + 1 }, (_, index) => capsule(index))
  expect(decided({ capsules }).health).toMatchObject({ capsules: mostCapsules, complete: false })
})

test("attention entries are ordered by reason, then newest first", () => {
  const place = (kind: "failed" | "drifted", since: string, key: string) => placeOf({ kind, since, key })
  const sorted = [
    place("drifted", later, "a"),
    place("failed", at, "b"),
    place("failed", at, "a"),
    place("failed", later, "c")
  ].sort(comparePlaces)
  expect(sorted.map(([rank, since, key]) => [rank, since, key])).toEqual([
    ["001", later, "c"],
    ["001", at, "a"],
    ["001", at, "b"],
    ["017", later, "a"]
  ])
})
