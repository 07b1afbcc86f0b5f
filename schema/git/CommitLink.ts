/** The public page of a commit below the page of its repository, by host. */
const forges: Readonly<Record<string, (repository: string, commit: string) => string>> = {
  "github.com": (repository, commit) => `${repository}/commit/${commit}`,
  "gitlab.com": (repository, commit) => `${repository}/-/commit/${commit}`,
  "bitbucket.org": (repository, commit) => `${repository}/commits/${commit}`,
  "codeberg.org": (repository, commit) => `${repository}/commit/${commit}`,
  "gitea.com": (repository, commit) => `${repository}/commit/${commit}`,
  "git.sr.ht": (repository, commit) => `${repository}/commit/${commit}`
}

const commitId = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/
const repositoryPath = /^\/~?[\w.-]+(?:\/[\w.-]+)+$/

/**
 * The page of a commit at the forge that its Git address names. Only for `https:` addresses without credentials, query or port
 * of known forges: for any other host a link would be a guess.
 */
export const commitLink = (gitAddress: string, commit: string): string | undefined => {
  if (!URL.canParse(gitAddress) || !commitId.test(commit)) return undefined
  const { hash, host, password, pathname, protocol, search, username } = new URL(gitAddress)
  if (protocol !== "https:" || `${username}${password}${search}${hash}` !== "") return undefined
  const path = pathname.replace(/\/$/, "").replace(/\.git$/, "")
  // `Object.hasOwn`: a host is text from outside.
  const page = Object.hasOwn(forges, host) ? forges[host] : undefined
  return page === undefined || !repositoryPath.test(path) ? undefined : page(`https://${host}${path}`, commit)
}
