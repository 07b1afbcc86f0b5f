/**
 * Target of a module call's `source`. svc can follow only `local` sources. For other kinds, `code` is the code of the
 * finding, and `what` describes the source.
 */
export type ModuleSource =
  | { readonly kind: "local" }
  | { readonly kind: "other"; readonly code: string; readonly what: string }

const other = (code: string, what: string): ModuleSource => ({ kind: "other", code, what })

const git = other("module_source_git", "a Git repository")
const mercurial = other("module_source_mercurial", "a Mercurial repository")
const http = other("module_source_http", "an HTTP address")
const s3 = other("module_source_s3", "an S3 bucket")
const gcs = other("module_source_gcs", "a Google Cloud Storage bucket")
const oci = other("module_source_oci", "an OCI registry")
const registry = other("module_source_registry", "a module registry")
const absolute = other("module_source_absolute", "an absolute path")
const unknown = other("module_source_unknown", "an address of unknown kind")

const byPrefix: ReadonlyArray<readonly [RegExp, ModuleSource]> = [
  [/^(?:\/|~|[a-z]:[\\/]|file:)/i, absolute],
  [/^git(?:::|@|:\/\/)|^ssh:\/\//i, git],
  [/^hg::/i, mercurial],
  [/^s3::/i, s3],
  [/^gcs::/i, gcs],
  [/^oci(?:::|:\/\/)/i, oci],
  [/^https?::/i, http],
  [/^(?:https?:\/\/)?[^/]{0,100}\.amazonaws\.com\//i, s3],
  [/^(?:https?:\/\/)?(?:www|storage)\.googleapis\.com\//i, gcs],
  [/^https?:\/\//i, http],
  [/^(?:github\.com|gitlab\.com|bitbucket\.org|codeberg\.org)\//i, git],
  [/^[^@/]{1,100}@[^/:]{1,253}:/, git]
]

const registryAddress =
  /^(?:[0-9a-z.-]{1,253}(?::\d{1,5})?\/)?[0-9a-z_-]{1,64}\/[0-9a-z_-]{1,64}\/[0-9a-z]{1,64}(?:\/\/.{1,1000})?$/i

export const classifyModuleSource = (source: string): ModuleSource => {
  if (source.startsWith("./") || source.startsWith("../")) return { kind: "local" }
  const known = byPrefix.find(([pattern]) => pattern.test(source))
  if (known !== undefined) return known[1]
  return registryAddress.test(source) ? registry : unknown
}

const maxShown = 300

/**
 * Returns the position at which user information would begin in an address: after the scheme, or after the name of a getter.
 */
const authorityStart = (source: string, end: number): number => {
  for (const mark of ["//", "::"]) {
    const found = source.indexOf(mark)
    if (found !== -1 && found < end) return found + mark.length
  }
  return 0
}

/** Returns the source without user information and query values, because people put credentials into both of them. */
export const shownModuleSource = (source: string): string => {
  const address = source.split("?", 1)[0] ?? ""
  const end = address.lastIndexOf("@")
  const start = authorityStart(address, end)
  const hidden = end !== -1 && address.slice(start, end) !== "git"
  const shown = hidden ? `${address.slice(0, start)}***${address.slice(end)}` : address
  const marked = address.length < source.length ? `${shown}?…` : shown
  return marked.length > maxShown ? `${marked.slice(0, maxShown)}…` : marked
}

/**
 * Returns the folder of a local source, relative to a folder in the tree, or `undefined` if it is outside the tree. Both paths
 * are canonical.
 */
export const resolveLocalSource = (from: string, source: string): string | undefined => {
  const segments = from === "." ? [] : from.split("/")
  for (const segment of source.split("/")) {
    if (segment === "" || segment === ".") continue
    if (segment !== "..") segments.push(segment)
    else if (segments.pop() === undefined) return undefined
  }
  return segments.length === 0 ? "." : segments.join("/")
}
