import { type AddressRule, normaliseAddress } from "../git/RepositoryAddress.ts"
import { normaliseRef } from "../git/RefName.ts"
import { isCanonicalRelativePath } from "../manifest/CanonicalPath.ts"

/** The parts of a packed module address. `path` is the module's folder in the repository. */
export interface PackedSource {
  readonly git: string
  readonly path?: string
  readonly ref?: string
}

const prefix = "git::"

/**
 * Parses a packed module address, `git::https://host/repository//folder?ref=tag`. OpenTofu modules use this format; svc accepts
 * only HTTPS, and only the option `ref`. Returns `undefined` for anything else.
 */
export const parsePackedSource = (text: string, rule: AddressRule): PackedSource | undefined => {
  if (!text.startsWith(prefix)) return undefined
  const [address = "", query, ...more] = text.slice(prefix.length).split("?")
  if (more.length > 0) return undefined
  const schemeEnd = address.indexOf("://") + 3
  const [repository = "", path, ...deeper] = address.slice(schemeEnd).split("//")
  const git = normaliseAddress(address.slice(0, schemeEnd) + repository, rule)
  if (deeper.length > 0 || git === undefined) return undefined
  if (path !== undefined && !isCanonicalRelativePath(path)) return undefined
  const written = query?.startsWith("ref=") === true ? query.slice("ref=".length) : undefined
  const ref = written === undefined || /[&%+]/.test(written) ? undefined : normaliseRef(written)
  if (query !== undefined && ref === undefined) return undefined
  return {
    git,
    ...(path === undefined ? {} : { path }),
    ...(ref === undefined ? {} : { ref })
  }
}
