import type { RepositoryHeads } from "../../../runner/git/PullRequestRefs.ts"
import { type HeadIsFork, mostOpenPullRequests } from "../../../schema/records/PullRequest.ts"
import { type ListedPullRequest, MergeGroupJson, mergeGroupOf, numberOf } from "./PullRequestRow.ts"

/**
 * Returns the pull requests that a queued commit contains and its base lacks, oldest first. A queue places each pull request
 * on top of the previous pull request's commit. Returns `undefined` if the history does not reach the base. `history` lists
 * the nearest commits first.
 */
export const mergeGroup = (
  row: Pick<ListedPullRequest, "base_branch" | "base_commit" | "id" | "merge_group" | "number">,
  queued: ReadonlyArray<ListedPullRequest>,
  history: ReadonlyArray<string>
): ReadonlyArray<number> | undefined => {
  if (row.base_commit === null || !history.includes(row.base_commit)) return undefined
  const before = queued.filter(
    ({ base_branch, head_commit, id, state }) =>
      id !== row.id && state === "open" && base_branch === row.base_branch && history.includes(head_commit)
  )
  const distance = ({ head_commit }: Pick<ListedPullRequest, "head_commit">) => history.indexOf(head_commit)
  return [...before.toSorted((a, b) => distance(b) - distance(a)).map(numberOf), numberOf(row)]
}

type KnownPullRequest = Pick<
  ListedPullRequest,
  "fork" | "head_commit" | "merge_group" | "number" | "planned_commit" | "state"
>

/**
 * Treats a queued commit as the repository's own code if, for each of its pull requests, the head belongs to the repository
 * or an owner or admin allowed plans of the current head.
 */
export const groupIsFork = (
  numbers: ReadonlyArray<number>,
  pullRequests: ReadonlyArray<KnownPullRequest>
): HeadIsFork =>
  numbers.every((number) => {
    const row = pullRequests.find((each) => each.number === number)
    return row !== undefined && (row.fork === "no" || row.planned_commit === row.head_commit)
  })
    ? "no"
    : "unknown"

type Facts = Pick<ListedPullRequest, "base_branch" | "base_commit" | "fork" | "head_commit" | "merge_group" | "ref">

/** The commits of the merge queues and of their target branches, keyed by full branch name. */
export type Queues = Pick<RepositoryHeads, "branches" | "queued">

interface MergeGroupChanges {
  readonly appeared: ReadonlyArray<Facts & Pick<ListedPullRequest, "head_branch" | "number">>
  /** `isMoved` is true if the branch points to another commit, and `isDue` if the commit must be assessed again. */
  readonly changed: ReadonlyArray<{
    readonly row: ListedPullRequest
    readonly to: Partial<Facts>
    readonly isMoved: boolean
    readonly isDue: boolean
  }>
  /** The commits that the queue has removed. */
  readonly gone: ReadonlyArray<ListedPullRequest>
}

/** Compares the branches of the merge queues with the known groups. `pullRequests` are the Source's pull requests. */
export const mergeGroupChanges = (
  known: ReadonlyArray<ListedPullRequest>,
  { branches, queued: all }: Queues,
  pullRequests: ReadonlyArray<ListedPullRequest>
): MergeGroupChanges => {
  const queued = all.slice(0, mostOpenPullRequests)
  const before = new Map(known.map((row) => [row.ref, row]))
  const isListed = new Set(queued.map(({ ref }) => ref))
  let lowest = Math.min(0, ...known.map(({ number }) => number))
  const appeared: Array<MergeGroupChanges["appeared"][number]> = []
  const changed: Array<MergeGroupChanges["changed"][number]> = []
  for (const { baseBranch, commit, number, ref } of queued) {
    const row = before.get(ref)
    // Later steps read the commit's history to determine the other pull requests of the group and their repositories.
    const fresh: Facts = {
      ref,
      head_commit: commit,
      base_branch: baseBranch,
      base_commit: branches.get(`refs/heads/${baseBranch}`) ?? null,
      fork: "unknown",
      merge_group: MergeGroupJson.write([number])
    }
    if (row === undefined) {
      lowest -= 1
      appeared.push({ ...fresh, head_branch: ref.slice("refs/heads/".length, 255), number: lowest })
    } else if (row.head_commit !== commit || row.state !== "open") {
      changed.push({ row, to: fresh, isMoved: true, isDue: true })
    } else {
      const fork = row.fork === "yes" ? "yes" : groupIsFork(mergeGroupOf(row) ?? [], pullRequests)
      const isUnread = row.head_snapshot_id === null || row.error_code !== null
      changed.push({ row, to: { fork }, isMoved: false, isDue: isUnread || row.fork !== fork })
    }
  }
  return { appeared, changed, gone: known.filter(({ ref, state }) => state === "open" && !isListed.has(ref)) }
}
