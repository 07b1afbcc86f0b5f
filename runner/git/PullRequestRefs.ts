/** The head of a pull request, according to the repository's refs. */
export interface PullRequestRef {
  readonly number: number
  /** `refs/pull/7/head` (GitHub, Gitea, Forgejo) or `refs/merge-requests/7/head` (GitLab). */
  readonly ref: string
  readonly commit: string
}

/** A commit that a GitHub merge queue tests before the commit becomes the newest commit of the base. */
export interface QueuedCommit {
  /** `refs/heads/gh-readonly-queue/main/pr-7-COMMIT`. */
  readonly ref: string
  readonly commit: string
  readonly baseBranch: string
  /** The last pull request of the group. */
  readonly number: number
}

/** The branches of a repository, and the heads of its pull requests. */
export interface RepositoryHeads {
  /** Commits, keyed by the full branch name, such as `refs/heads/main`. Omits merge queue branches. */
  readonly branches: ReadonlyMap<string, string>
  /** Full name of the branch to which HEAD points; `undefined` if the server does not report it. */
  readonly defaultBranch: string | undefined
  /** Every pull request that has a ref, highest number first. Forges keep the refs of closed pull requests. */
  readonly pullRequests: ReadonlyArray<PullRequestRef>
  readonly queued: ReadonlyArray<QueuedCommit>
}

/** Prefixes of the refs that `repositoryHeads` lists. */
export const headPrefixes: ReadonlyArray<string> = ["HEAD", "refs/heads/", "refs/pull/", "refs/merge-requests/"]

const pullRequestRef = /^refs\/(?:pull|merge-requests)\/([1-9][0-9]{0,8})\/head$/

const queueRef = /^refs\/heads\/gh-readonly-queue\/(.+)\/pr-([1-9][0-9]{0,8})-[0-9a-f]{40}$/

const queuedCommit = ({ commit, name }: Pick<Listed, "commit" | "name">): QueuedCommit | undefined => {
  const [, baseBranch, number] = queueRef.exec(name) ?? []
  return baseBranch === undefined ? undefined : { ref: name, commit, baseBranch, number: Number(number) }
}

interface Listed {
  readonly name: string
  readonly commit: string
  readonly target: string | undefined
}

/**
 * Extracts the branches and the heads of pull requests from a listing. Keeps one ref for each pull request number, because a
 * forge uses only one kind of ref.
 */
export const repositoryHeads = (refs: ReadonlyArray<Listed>): RepositoryHeads => {
  const pullRequests = new Map<number, PullRequestRef>()
  for (const { commit, name } of refs) {
    const number = Number(pullRequestRef.exec(name)?.[1])
    if (Number.isInteger(number) && !pullRequests.has(number)) pullRequests.set(number, { number, ref: name, commit })
  }
  const queued = refs.flatMap((listed) => queuedCommit(listed) ?? [])
  const isQueued = new Set(queued.map(({ ref }) => ref))
  const isBranch = ({ name }: Listed) => name.startsWith("refs/heads/") && !isQueued.has(name)
  return {
    // A merge queue also creates branches for pull requests from other repositories. Do not treat queue branches as branches
    // of this repository.
    branches: new Map(refs.filter(isBranch).map(({ commit, name }) => [name, commit])),
    defaultBranch: refs.find(({ name }) => name === "HEAD")?.target,
    pullRequests: [...pullRequests.values()].sort((a, b) => b.number - a.number),
    queued
  }
}
