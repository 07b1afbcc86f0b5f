import { Schema } from "effect"
import { RelativePath } from "../manifest/RelativePath.ts"
import { GitRef } from "./GitRef.ts"
import { type ExemptOrigins, isGitUrl } from "./GitUrl.ts"

/** What a packed module address says. `path` is the module's folder in the repository. */
export interface PackedSource {
  readonly git: string
  readonly path?: string
  readonly ref?: string
}

const isRef = Schema.is(GitRef)
const isFolder = Schema.is(RelativePath)
const prefix = "git::"

/**
 * Reads a packed module address, `git::https://host/repository//folder?ref=tag`: the address that OpenTofu modules use,
 * less every transport but HTTPS and every option but `ref`. Answers `undefined` for anything else.
 */
export const parsePackedSource = (text: string, exempt: ExemptOrigins = []): PackedSource | undefined => {
  if (!text.startsWith(prefix)) return undefined
  const [address = "", query, ...more] = text.slice(prefix.length).split("?")
  if (more.length > 0) return undefined
  const schemeEnd = address.indexOf("://") + 3
  const [repository = "", path, ...deeper] = address.slice(schemeEnd).split("//")
  const git = address.slice(0, schemeEnd) + repository
  if (deeper.length > 0 || !isGitUrl(git, exempt)) return undefined
  if (path !== undefined && !isFolder(path)) return undefined
  const ref = query?.startsWith("ref=") === true ? query.slice("ref=".length) : undefined
  if (query !== undefined && (ref === undefined || !isRef(ref) || /[&%+]/.test(ref))) return undefined
  return { git, ...(path === undefined ? {} : { path }), ...(ref === undefined ? {} : { ref }) }
}

/** Writes the packed address that `parsePackedSource` reads back. */
export const formatPackedSource = ({ git, path, ref }: PackedSource): string =>
  `${prefix}${git}${path === undefined ? "" : `//${path}`}${ref === undefined ? "" : `?ref=${ref}`}`
