/** The head of a pull request, as the repository's refs show it. */
export interface PullRequestRef {
  readonly number: number
  /** `refs/pull/7/head` (GitHub, Gitea, Forgejo) or `refs/merge-requests/7/head` (GitLab). */
  readonly ref: string
  readonly commit: string
}

/** The branches of a repository, and the heads of its pull requests. */
export interface RepositoryHeads {
  /** Commits by the full name of their branch, such as `refs/heads/main`. */
  readonly branches: ReadonlyMap<string, string>
  /** Full name of the branch to which HEAD points; `undefined` if the server does not report it. */
  readonly defaultBranch: string | undefined
  /** Every pull request that has a ref, highest number first. Forges keep the refs of closed pull requests. */
  readonly pullRequests: ReadonlyArray<PullRequestRef>
}

/** Prefixes of the refs that `repositoryHeads` lists. */
export const headPrefixes: ReadonlyArray<string> = ["HEAD", "refs/heads/", "refs/pull/", "refs/merge-requests/"]

const pullRequestRef = /^refs\/(?:pull|merge-requests)\/([1-9][0-9]{0,8})\/head$/

interface Listed {
  readonly name: string
  readonly commit: string
  readonly target: string | undefined
}

/**
 * Extracts the branches and the heads of pull requests from a listing. Each number counts once, because a forge has only one kind
 * of ref.
 */
export const repositoryHeads = (refs: ReadonlyArray<Listed>): RepositoryHeads => {
  const pullRequests = new Map<number, PullRequestRef>()
  for (const { commit, name } of refs) {
    const number = Number(pullRequestRef.exec(name)?.[1])
    if (Number.isInteger(number) && !pullRequests.has(number)) pullRequests.set(number, { number, ref: name, commit })
  }
  return {
    branches: new Map(refs.flatMap(({ commit, name }) => (name.startsWith("refs/heads/") ? [[name, commit]] : []))),
    defaultBranch: refs.find(({ name }) => name === "HEAD")?.target,
    pullRequests: [...pullRequests.values()].sort((a, b) => b.number - a.number)
  }
}
