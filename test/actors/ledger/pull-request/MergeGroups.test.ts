import { describe, expect, test } from "bun:test"
import { groupIsFork, mergeGroup, mergeGroupChanges } from "../../../../actors/ledger/pull-request/MergeGroups.ts"
import { type ListedPullRequest, MergeGroupJson } from "../../../../actors/ledger/pull-request/PullRequestRow.ts"
import type { QueuedCommit } from "../../../../runner/git/PullRequestRefs.ts"
import { PullRequestId, SourceId, SourceSnapshotId, WorkspaceId } from "../../../../schema/records/Ids.ts"
import { commitOf } from "../../../support/forge/ForgeState.ts"

const at = "2026-01-01T00:00:00.000Z"

const row = (number: number, changes: Partial<ListedPullRequest> = {}): ListedPullRequest => ({
  id: PullRequestId.make(`pr_${"a".repeat(20)}${number + 100}`),
  workspace_id: WorkspaceId.make(`ws_${"a".repeat(24)}`),
  source_id: SourceId.make(`src_${"a".repeat(24)}`),
  number,
  ref: `refs/pull/${number}/head`,
  state: "open",
  head_commit: commitOf(`head ${number}`),
  head_branch: null,
  fork: "no",
  base_branch: "main",
  base_commit: commitOf("base"),
  merge_commit: null,
  title: null,
  url: null,
  author: null,
  draft: null,
  last_seen_at: at,
  closed_at: null,
  created_at: at,
  due: 0,
  sync_run_id: null,
  sync_attempts: 0,
  head_snapshot_id: null,
  planned_commit: null,
  planned_by: null,
  planned_at: null,
  error_code: null,
  error_message: null,
  attempt: 0,
  merge_group: null,
  repository: null,
  ...changes
})

const entry = (number: number, commit = commitOf(`queued ${number}`)): QueuedCommit => ({
  ref: `refs/heads/gh-readonly-queue/main/pr-${number}-${commitOf(`name ${number}`)}`,
  commit,
  baseBranch: "main",
  number
})

const group = (stored: number, numbers: ReadonlyArray<number>, changes: Partial<ListedPullRequest> = {}) => {
  const number = numbers.at(-1) ?? 0
  const { commit, ref } = entry(number)
  return row(stored, { ref, head_commit: commit, merge_group: MergeGroupJson.write(numbers), ...changes })
}

describe("The merge group of a queued commit", () => {
  const first = group(-1, [1])
  const second = group(-2, [2])
  const third = group(-3, [3], { base_branch: "release" })
  const history = [second.head_commit, commitOf("own commit of 2"), first.head_commit, commitOf("base")]

  test("a merge group contains the earlier pull requests in its history, oldest first", () => {
    expect(mergeGroup(second, [first, second, third], history)).toEqual([1, 2])
    expect(mergeGroup(first, [first, second, third], history.slice(2))).toEqual([1])
  })

  test("a merge group ignores commits that the queue has removed, and commits for another base", () => {
    const gone = { ...first, state: "closed" as const }
    expect(mergeGroup(second, [gone, second], history)).toEqual([2])
    expect(mergeGroup(second, [second, third], [...history, third.head_commit])).toEqual([2])
  })

  test("a merge group is unknown if the history does not reach the base", () => {
    expect(mergeGroup(second, [first, second], history.slice(0, 3))).toBeUndefined()
    expect(mergeGroup({ ...second, base_commit: null }, [first, second], history)).toBeUndefined()
  })

  test("a merge group is not treated as a fork if each of its pull requests comes from this repository or has a current head that was allowed", () => {
    const stranger = row(2, { fork: "yes" })
    expect(groupIsFork([1], [row(1)])).toBe("no")
    expect(groupIsFork([1, 2], [row(1), stranger])).toBe("unknown")
    expect(groupIsFork([1, 2], [row(1), { ...stranger, planned_commit: stranger.head_commit }])).toBe("no")
    expect(groupIsFork([1, 2], [row(1), { ...stranger, planned_commit: commitOf("earlier") }])).toBe("unknown")
    // If a pull request is unknown, svc cannot determine whether it comes from a fork.
    expect(groupIsFork([1, 3], [row(1)])).toBe("unknown")
  })
})

describe("Merge queue polls", () => {
  const queues = (...queued: ReadonlyArray<QueuedCommit>) => ({
    branches: new Map([["refs/heads/main", commitOf("base")]]),
    queued
  })

  test("a poll of the merge queues numbers new groups below all existing groups", () => {
    const { appeared, changed, gone } = mergeGroupChanges([group(-4, [1])], queues(entry(1), entry(2), entry(3)), [])
    expect(appeared.map(({ fork, merge_group, number }) => [number, fork, merge_group])).toEqual([
      [-5, "unknown", "[2]"],
      [-6, "unknown", "[3]"]
    ])
    expect(appeared[0]?.base_commit).toBe(commitOf("base"))
    expect([changed.length, gone]).toEqual([1, []])
  })

  test("a Source has at most 100 commits in merge queues", () => {
    const entries = Array.from({ length: 101 }, (_, index) => entry(index + 1))
    const { appeared } = mergeGroupChanges([], queues(...entries), [])
    expect(appeared.map(({ merge_group }) => merge_group)).toEqual(
      entries.slice(0, 100).map(({ number }) => MergeGroupJson.write([number]))
    )
  })

  test("after the queue has removed a commit, a poll of the merge queues drops the commit exactly once", () => {
    const before = [group(-1, [1]), group(-2, [2], { state: "closed" })]
    expect(mergeGroupChanges(before, queues(), []).gone.map(({ number }) => number)).toEqual([-1])
  })

  test("a poll of the merge queues reassesses a moved branch, and a group with pull requests from another repository", () => {
    const known = group(-1, [1], { head_snapshot_id: SourceSnapshotId.make(`snap_${"a".repeat(24)}`) })
    const moved = mergeGroupChanges([known], queues(entry(1, commitOf("other"))), [row(1)])
    expect(moved.changed).toMatchObject([{ isMoved: true, isDue: true, to: { fork: "unknown" } }])
    const same = mergeGroupChanges([known], queues(entry(1)), [row(1)])
    expect(same.changed).toMatchObject([{ isMoved: false, isDue: false, to: { fork: "no" } }])
    const foreign = mergeGroupChanges([known], queues(entry(1)), [row(1, { fork: "yes" })])
    expect(foreign.changed).toMatchObject([{ isDue: true, to: { fork: "unknown" } }])
    // The history of this commit does not reach the base, and no later poll can change that.
    const unproven = mergeGroupChanges([{ ...known, fork: "yes" }], queues(entry(1)), [row(1)])
    expect(unproven.changed).toMatchObject([{ isDue: false, to: { fork: "yes" } }])
  })
})
