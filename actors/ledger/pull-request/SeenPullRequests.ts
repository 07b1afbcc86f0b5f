import type { PullRequestRef, RepositoryHeads } from "../../../runner/git/PullRequestRefs.ts"
import { type ForgeKind, type ForgePullRequest, isForeignHead } from "../../../schema/records/Forge.ts"
import { type HeadIsFork, mostOpenPullRequests } from "../../../schema/records/PullRequest.ts"
import type { ListedPullRequest } from "./PullRequestRow.ts"

/** An open pull request as the repository or its forge reports it now. */
export interface SeenPullRequest {
  readonly number: number
  readonly ref: string
  readonly head_commit: string
  readonly head_branch: string | null
  readonly fork: HeadIsFork
  readonly base_branch: string | null
  readonly base_commit: string | null
  /** Absent if svc read only the refs, because the refs do not contain it. */
  readonly title?: string | null
  readonly url?: string | null
  readonly author?: string | null
  readonly draft?: 0 | 1
}

/** The outcome of a pull request that is no longer open. */
export interface Ended {
  readonly state: "closed" | "merged"
  readonly merge_commit: string | null
}

/** The result of one poll. */
export interface Sighting {
  readonly open: ReadonlyArray<SeenPullRequest>
  /** Number of open pull requests that were left out because of the limit. */
  readonly leftOut: number
  readonly ended: (known: Known) => Ended
}

type Known = Pick<ListedPullRequest, "number" | "state" | "head_commit">

/** Selects the open pull requests with the highest numbers, up to the limit. */
const bounded = (open: ReadonlyArray<SeenPullRequest>) => ({
  open: open.toSorted((a, b) => b.number - a.number).slice(0, mostOpenPullRequests),
  leftOut: Math.max(0, open.length - mostOpenPullRequests)
})

interface RefsToJudge {
  readonly heads: RepositoryHeads
  /** Full name of the base branch, such as `refs/heads/main`. */
  readonly base: string | undefined
  /** The newest commits of the base, including its current commit. */
  readonly ancestors: ReadonlySet<string>
  /** The highest pull request number that svc's first poll found. */
  readonly fromNumber: number
  readonly known: ReadonlyArray<Known>
  /**
   * True if the forge listed pull requests earlier but cannot be reached now. In that case, pull requests that the forge
   * listed as open remain open.
   */
  readonly trustsKnown?: boolean
}

const branchPrefix = "refs/heads/"

export const branchName = (ref: string): string => (ref.startsWith(branchPrefix) ? ref.slice(branchPrefix.length) : ref)

/**
 * Assesses the pull requests of a repository from its refs only, without its forge. The refs include those of closed pull
 * requests. A pull request is merged if the base contains its head. Otherwise it is open if it is newer than the first poll,
 * or if a branch of the repository points to its head. Only such a branch proves that the head belongs to the repository.
 */
export const seenInRefs = ({ ancestors, base, fromNumber, heads, known, trustsKnown }: RefsToJudge): Sighting => {
  const baseCommit = base === undefined ? undefined : heads.branches.get(base)
  const own = new Map([...heads.branches].map(([name, commit]) => [commit, name]))
  const before = new Map(known.map((row) => [row.number, row]))
  const isMerged = ({ commit, number }: Pick<PullRequestRef, "commit" | "number">) => {
    const row = before.get(number)
    return commit === baseCommit || ancestors.has(commit) || (row?.state === "merged" && row.head_commit === commit)
  }
  const listed = new Map(heads.pullRequests.map((found) => [found.number, found]))
  const open = heads.pullRequests.flatMap((found): ReadonlyArray<SeenPullRequest> => {
    const branch = own.get(found.commit)
    const isNew = found.number > fromNumber || (trustsKnown === true && before.get(found.number)?.state === "open")
    if (isMerged(found) || (!isNew && branch === undefined)) return []
    return [
      {
        number: found.number,
        ref: found.ref,
        head_commit: found.commit,
        head_branch: branch === undefined ? null : branchName(branch),
        fork: branch === undefined ? "unknown" : "no",
        base_branch: base === undefined ? null : branchName(base),
        base_commit: baseCommit ?? null
      }
    ]
  })
  const ended = ({ number }: Known): Ended => {
    const found = listed.get(number)
    return { state: found !== undefined && isMerged(found) ? "merged" : "closed", merge_commit: null }
  }
  return { ...bounded(open), ended }
}

const shortened = (text: string, most: number) => [...text].slice(0, most).join("")

const isWebAddress = (url: string) => url.startsWith("https://") || url.startsWith("http://")

const webAddress = (url: string) => (isWebAddress(url) && url.length <= 2000 ? url : null)

interface ForgeListing {
  readonly kind: ForgeKind
  /** The id that the forge assigned to the Source's repository. */
  readonly repositoryId: string
  readonly open: ReadonlyArray<ForgePullRequest>
  readonly heads: RepositoryHeads
  /** The outcome of each known pull request that is missing from the forge's list of open pull requests. */
  readonly ended: ReadonlyMap<number, Ended>
}

/**
 * Assesses the pull requests that a forge lists as open. A head is treated as part of this repository only if both
 * repository ids are known and equal, and the branch points to the head.
 */
export const seenOnForge = ({ ended, heads, kind, open, repositoryId }: ForgeListing): Sighting => {
  const seen = open.map((one): SeenPullRequest => {
    const isOwn = !isForeignHead(one) && one.baseRepositoryId === repositoryId
    // On some forges, people without write access can open a pull request whose head the forge reports as part of the base
    // repository.
    const isPushed = heads.branches.get(`refs/heads/${one.headRef}`) === one.headCommit
    return {
      number: one.number,
      ref: kind === "gitlab" ? `refs/merge-requests/${one.number}/head` : `refs/pull/${one.number}/head`,
      head_commit: one.headCommit,
      head_branch: shortened(one.headRef, 255),
      fork: isOwn && isPushed ? "no" : isOwn || one.headRepositoryId === null ? "unknown" : "yes",
      base_branch: shortened(one.baseRef, 255),
      base_commit: heads.branches.get(`refs/heads/${one.baseRef}`) ?? null,
      title: shortened(one.title, 300),
      url: webAddress(one.url),
      author: shortened(one.author.login, 100),
      draft: one.draft ? 1 : 0
    }
  })
  return { ...bounded(seen), ended: ({ number }) => ended.get(number) ?? { state: "closed", merge_commit: null } }
}

/** The effect of a poll on a known pull request. `isDue` is true if the head must be assessed again. */
export interface PullRequestChange {
  readonly row: ListedPullRequest
  readonly to: Partial<Omit<ListedPullRequest, "id" | "workspace_id" | "source_id" | "number" | "created_at">>
  readonly isDue: boolean
}

export interface PullRequestChanges {
  readonly appeared: ReadonlyArray<SeenPullRequest>
  readonly changed: ReadonlyArray<PullRequestChange>
}

/** The initial facts about a new head, because the facts about the previous head do not apply to it. */
export const unread = {
  sync_run_id: null,
  sync_attempts: 0,
  head_snapshot_id: null,
  error_code: null,
  error_message: null
} as const

const changeOf = (row: ListedPullRequest, seen: SeenPullRequest): PullRequestChange => {
  const { number: _, ...fields } = seen
  const isMoved = row.head_commit !== seen.head_commit || row.ref !== seen.ref
  const isReopened = row.state !== "open"
  const isJudgedAgain =
    isMoved ||
    isReopened ||
    row.base_branch !== seen.base_branch ||
    row.fork !== seen.fork ||
    row.head_branch !== seen.head_branch
  return {
    row,
    to: {
      ...fields,
      ...(isReopened ? { state: "open", closed_at: null, merge_commit: null } : {}),
      ...(isMoved || isReopened ? unread : {})
    },
    // A head that was waiting for its turn or its base has no snapshot yet.
    isDue: isJudgedAgain || row.head_snapshot_id === null || row.error_code !== null
  }
}

/** Compares the result of a poll with the Source's known pull requests. `at` is the time of the poll. */
export const pullRequestChanges = (
  known: ReadonlyArray<ListedPullRequest>,
  sighting: Sighting,
  at: ListedPullRequest["last_seen_at"]
): PullRequestChanges => {
  const open = new Map(sighting.open.map((seen) => [seen.number, seen]))
  const numbers = new Set(known.map(({ number }) => number))
  const changed = known.flatMap((row): ReadonlyArray<PullRequestChange> => {
    const seen = open.get(row.number)
    if (seen !== undefined) return [changeOf(row, seen)]
    return row.state === "open" ? [{ row, to: { ...sighting.ended(row), closed_at: at }, isDue: true }] : []
  })
  return { appeared: sighting.open.filter(({ number }) => !numbers.has(number)), changed }
}
