import type { RepositoryHeads } from "../../../runner/git/PullRequestRefs.ts"

/** Returns the full name of the branch in a Source's default ref, or `undefined` if that ref is not a branch. */
export const baseRefOf = (
  defaultRef: string,
  { branches, defaultBranch }: Pick<RepositoryHeads, "branches" | "defaultBranch">
): string | undefined => {
  if (defaultRef === "HEAD") return defaultBranch
  const name = defaultRef.startsWith("refs/") ? defaultRef : `refs/heads/${defaultRef}`
  return branches.has(name) ? name : undefined
}

/**
 * Returns every spelling of a base branch that a Source's lanes may use. `defaultBranch` is the full name of the
 * repository's default branch.
 */
export const laneRefsOf = (baseBranch: string, defaultBranch: string | null): ReadonlyArray<string> => [
  baseBranch,
  `refs/heads/${baseBranch}`,
  ...(defaultBranch === `refs/heads/${baseBranch}` ? ["HEAD"] : [])
]
