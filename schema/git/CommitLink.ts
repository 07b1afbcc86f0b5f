/** Builds the URLs of a repository's public pages, relative to its main page. */
interface Forge {
  readonly commit: (commit: string) => string
  /** `path` starts with a slash and is encoded. */
  readonly file: (commit: string, path: string) => string
}

const gitea: Forge = {
  commit: (commit) => `/commit/${commit}`,
  file: (commit, path) => `/src/commit/${commit}${path}`
}

const forges: Readonly<Record<string, Forge>> = {
  "github.com": { commit: (commit) => `/commit/${commit}`, file: (commit, path) => `/blob/${commit}${path}` },
  "gitlab.com": { commit: (commit) => `/-/commit/${commit}`, file: (commit, path) => `/-/blob/${commit}${path}` },
  "bitbucket.org": { commit: (commit) => `/commits/${commit}`, file: (commit, path) => `/src/${commit}${path}` },
  "codeberg.org": gitea,
  "gitea.com": gitea,
  "git.sr.ht": { commit: (commit) => `/commit/${commit}`, file: (commit, path) => `/tree/${commit}/item${path}` }
}

const commitId = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/
const repositoryPath = /^\/~?[\w.-]+(?:\/[\w.-]+)+$/

/** Returns the forge that hosts a Git address, and the main page of the repository. */
const forgeOf = (gitAddress: string, commit: string) => {
  if (!URL.canParse(gitAddress) || !commitId.test(commit)) return undefined
  const { hash, host, password, pathname, protocol, search, username } = new URL(gitAddress)
  if (protocol !== "https:" || `${username}${password}${search}${hash}` !== "") return undefined
  const path = pathname.replace(/\/$/, "").replace(/\.git$/, "")
  // Uses `Object.hasOwn`, because the host is untrusted input.
  const forge = Object.hasOwn(forges, host) ? forges[host] : undefined
  return forge === undefined || !repositoryPath.test(path) ? undefined : { forge, repository: `https://${host}${path}` }
}

/**
 * Returns the URL of a commit's page on its forge. Returns a URL only if the address uses `https:`, belongs to a known
 * forge, and has no credentials, query or port; for any other host, the URL would be a guess.
 */
export const commitLink = (gitAddress: string, commit: string): string | undefined => {
  const found = forgeOf(gitAddress, commit)
  return found === undefined ? undefined : `${found.repository}${found.forge.commit(commit)}`
}

/**
 * Returns the URL of the page that shows a file at a commit, under the same conditions as `commitLink`. `path` is relative
 * to the repository.
 */
export const fileLink = (gitAddress: string, commit: string, path: string): string | undefined => {
  const found = forgeOf(gitAddress, commit)
  // Parsing the path as a URL resolves `..` segments and encodes all other special characters.
  const { pathname } = new URL(`/${path.replaceAll("\\", "/")}`.replace(/^\/+/, "/"), "https://repository.invalid")
  return found === undefined ? undefined : `${found.repository}${found.forge.file(commit, pathname)}`
}
