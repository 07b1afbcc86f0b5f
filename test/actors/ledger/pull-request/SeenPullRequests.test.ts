import { describe, expect, test } from "bun:test"
import * as fc from "fast-check"
import type { ListedPullRequest } from "../../../../actors/ledger/pull-request/PullRequestRow.ts"
import {
  pullRequestChanges,
  seenInRefs,
  seenOnForge,
  type Sighting
} from "../../../../actors/ledger/pull-request/SeenPullRequests.ts"
import { repositoryHeads } from "../../../../runner/git/PullRequestRefs.ts"
import type { ForgePullRequest } from "../../../../schema/records/Forge.ts"
import { PullRequestId, SourceId, WorkspaceId } from "../../../../schema/records/Ids.ts"
import { mostOpenPullRequests } from "../../../../schema/records/PullRequest.ts"

const at = "2026-01-01T00:00:00.000Z"
const commitOf = (n: number) => n.toString(16).padStart(40, "0")
const idOf = (prefix: string, n: number) => `${prefix}_${String(n).padStart(16, "0")}`

const empty = {
  id: PullRequestId.make(idOf("pr", 0)),
  workspace_id: WorkspaceId.make(idOf("ws", 1)),
  source_id: SourceId.make(idOf("src", 1)),
  head_branch: null,
  base_branch: null,
  base_commit: null,
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
  repository: null
} satisfies Partial<ListedPullRequest>

/** The records after one poll, in the form that the store writes. */
const after = (rows: ReadonlyArray<ListedPullRequest>, sighting: Sighting): ReadonlyArray<ListedPullRequest> => {
  const { appeared, changed } = pullRequestChanges(rows, sighting, at)
  const moved = new Map(changed.map(({ row, to }) => [row.number, { ...row, ...to }]))
  const made = appeared.map((seen) => ({
    ...empty,
    ...seen,
    id: PullRequestId.make(idOf("pr", seen.number)),
    state: "open" as const
  }))
  return [...rows.map((row) => moved.get(row.number) ?? row), ...made]
}

const ref = (name: string, n: number) => ({ name, commit: commitOf(n), target: undefined })

/** A repository: the commits of its branches and of its pull requests' heads. */
interface Repository {
  readonly branches: Readonly<Record<string, number>>
  readonly heads: Readonly<Record<string, number>>
  /** Commits that the base contains. */
  readonly merged: ReadonlyArray<number>
}

const lookAt = (
  { branches, heads, merged }: Repository,
  rows: ReadonlyArray<ListedPullRequest>,
  fromNumber: number,
  trustsKnown = false
) =>
  seenInRefs({
    heads: repositoryHeads([
      { ...ref("HEAD", 1), target: "refs/heads/main" },
      ...Object.entries(branches).map(([name, n]) => ref(`refs/heads/${name}`, n)),
      ...Object.entries(heads).map(([number, n]) => ref(`refs/pull/${number}/head`, n))
    ]),
    base: "refs/heads/main",
    ancestors: new Set([commitOf(1), ...merged.map(commitOf)]),
    fromNumber,
    known: rows,
    trustsKnown
  })

const short = (rows: ReadonlyArray<ListedPullRequest>) =>
  rows
    .toSorted((a, b) => a.number - b.number)
    .map(({ fork, head_branch, head_commit, number, state }) => ({ number, state, head_commit, fork, head_branch }))

const first: Repository = { branches: { main: 1, topic: 12 }, heads: { 1: 11, 2: 12, 3: 13 }, merged: [] }

describe("Pull request status derived from refs", () => {
  test("a pull request that existed before the first poll is open only if a branch points to its head", () => {
    expect(short(after([], lookAt(first, [], 3)))).toEqual([
      { number: 2, state: "open", head_commit: commitOf(12), fork: "no", head_branch: "topic" }
    ])
  })

  test("the repository of a head is unknown if no branch points to the head, even if a branch did so earlier", () => {
    const rows = after([], lookAt(first, [], 0))
    expect(short(rows).map(({ fork }) => fork)).toEqual(["unknown", "no", "unknown"])
    const later = after(rows, lookAt({ ...first, branches: { main: 1 } }, rows, 0))
    expect(short(later)[1]).toMatchObject({ state: "open", fork: "unknown", head_branch: null })
  })

  test("the base branch alone does not prove that a head belongs to the repository", () => {
    const rows = after([], lookAt({ branches: { main: 1 }, heads: { 5: 1 }, merged: [] }, [], 0))
    expect(rows).toEqual([])
  })

  test("a merged pull request stays merged after the base has moved far ahead, and is reopened by a new head", () => {
    const open = after([], lookAt(first, [], 0))
    const merged = after(open, lookAt({ ...first, merged: [12] }, open, 0))
    expect(short(merged)[1]?.state).toBe("merged")
    const later = after(merged, lookAt(first, merged, 0))
    expect(short(later)[1]?.state).toBe("merged")
    const pushed = after(later, lookAt({ ...first, heads: { ...first.heads, 2: 22 } }, later, 0))
    expect(short(pushed)[1]).toMatchObject({ state: "open", head_commit: commitOf(22), fork: "unknown" })
  })

  test("when a pull request is reopened or gets a new head, svc discards all recorded facts about the former head", () => {
    const [row] = after([], lookAt({ ...first, heads: { 2: 12 } }, [], 0))
    const known = {
      ...(row ?? expect.unreachable()),
      sync_attempts: 3,
      error_code: "source_sync_failed",
      error_message: "x"
    }
    for (const before of [known, { ...known, state: "closed" as const, closed_at: at }]) {
      const head = before.state === "open" ? 22 : 12
      const [change] = pullRequestChanges([before], lookAt({ ...first, heads: { 2: head } }, [before], 0), at).changed
      expect(change).toMatchObject({
        isDue: true,
        to: {
          sync_run_id: null,
          head_snapshot_id: null,
          sync_attempts: 0,
          error_code: null,
          head_commit: commitOf(head)
        }
      })
    }
  })

  test("while the forge is unreachable, a pull request that it listed as open stays open until its ref is gone", () => {
    const open = after([], lookAt(first, [], 0))
    expect(short(after(open, lookAt(first, open, 3))).map(({ state }) => state)).toEqual(["closed", "open", "closed"])
    const trusted = after(open, lookAt(first, open, 3, true))
    expect(short(trusted).map(({ state }) => state)).toEqual(["open", "open", "open"])
    const gone = after(open, lookAt({ ...first, heads: {} }, open, 3, true))
    expect(short(gone).map(({ state }) => state)).toEqual(["closed", "closed", "closed"])
  })

  test("svc follows only the 100 open pull requests with the highest numbers", () => {
    const heads = Object.fromEntries(Array.from({ length: 130 }, (_, index) => [index + 1, index + 100]))
    const { leftOut, open } = lookAt({ branches: { main: 1 }, heads, merged: [] }, [], 0)
    expect([open.length, leftOut, open.at(-1)?.number]).toEqual([mostOpenPullRequests, 30, 31])
  })

  const anyStep = fc.record({
    number: fc.integer({ min: 1, max: 4 }),
    head: fc.option(fc.integer({ min: 20, max: 23 })),
    hasBranch: fc.boolean(),
    /** Number of polls after this change: 0 if the change's webhook is lost, more than 1 if the webhook is repeated. */
    looks: fc.integer({ min: 0, max: 2 })
  })

  test("lost, late, repeated and reordered webhooks lead to the same records", () => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 12 }), (steps) => {
        let repository: Repository = { branches: { main: 1 }, heads: {}, merged: [] }
        let rows: ReadonlyArray<ListedPullRequest> = []
        for (const { hasBranch, head, looks, number } of steps) {
          const { [number]: _, ...others } = repository.heads
          repository = {
            ...repository,
            branches: hasBranch && head !== null ? { main: 1, topic: head } : { main: 1 },
            heads: head === null ? others : { ...others, [number]: head }
          }
          for (let look = 0; look < looks; look++) rows = after(rows, lookAt(repository, rows, 0))
        }
        const hinted = after(rows, lookAt(repository, rows, 0))
        const silent = after([], lookAt(repository, [], 0))
        const isOpen = ({ state }: { readonly state: string }) => state === "open"
        expect(short(hinted).filter(isOpen)).toEqual(short(silent))
        // Another webhook changes nothing.
        expect(short(after(hinted, lookAt(repository, hinted, 0)))).toEqual(short(hinted))
      }),
      { numRuns: 200 }
    )
  })
})

const forgePullRequest: ForgePullRequest = {
  number: 7,
  title: "Widen the network",
  url: "https://forge.example/team/network/pulls/7",
  state: "open",
  draft: true,
  author: { id: "3", login: "eve" },
  headCommit: commitOf(9),
  headRef: "topic",
  headRepositoryId: "1",
  baseRef: "main",
  baseRepositoryId: "1",
  mergeCommit: null
}

describe("Pull request status reported by the forge", () => {
  const onForge = (more: Partial<ForgePullRequest>, kind: "github" | "gitlab" = "github") =>
    seenOnForge({
      kind,
      repositoryId: "1",
      open: [{ ...forgePullRequest, ...more }],
      heads: repositoryHeads([ref("refs/heads/main", 1), ref("refs/heads/topic", 9)]),
      ended: new Map([[4, { state: "merged", merge_commit: commitOf(4) }]])
    })

  test.each([
    [{}, "no"],
    [{ headRepositoryId: "2" }, "yes"],
    [{ headRepositoryId: null }, "unknown"],
    // If no branch points to a head, its author may lack permission to push to the repository.
    [{ headRef: "topic-of-a-stranger" }, "unknown"],
    [{ headCommit: commitOf(8) }, "unknown"],
    // If the forge reports another base repository, the pull request does not belong to the Source's repository.
    [{ headRepositoryId: "2", baseRepositoryId: "2" }, "yes"]
  ] as const)("the ids of the repositories decide about a fork: %o", (more, fork) => {
    expect(onForge(more).open).toMatchObject([{ fork, title: "Widen the network", draft: 1, base_commit: commitOf(1) }])
  })

  test("svc limits the length of untrusted texts, and ignores addresses that are not web addresses", () => {
    const [seen] = onForge({ title: "x".repeat(5000), url: "javascript:alert(1)" }).open
    expect([seen?.title?.length, seen?.url]).toEqual([300, null])
  })

  test("svc reads merge requests from their own refs, and the outcome of a pull request from the forge", () => {
    const { ended, open } = onForge({}, "gitlab")
    expect(open[0]?.ref).toBe("refs/merge-requests/7/head")
    const known = { state: "open" as const, head_commit: commitOf(1) }
    expect(ended({ ...known, number: 4 })).toEqual({ state: "merged", merge_commit: commitOf(4) })
    expect(ended({ ...known, number: 5 }).state).toBe("closed")
  })
})
