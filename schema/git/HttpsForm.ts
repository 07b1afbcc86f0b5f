import { httpsOnly, normaliseAddress } from "./RepositoryAddress.ts"

/** Returns true if the server can fetch from this address. */
export const isReadable = (typed: string): boolean => normaliseAddress(typed.trim()) !== undefined

/** Converts an ssh address such as `git@host:a/b` or `ssh://git@host/a/b` to https. */
export const httpsForm = (typed: string): string | undefined => {
  const text = typed.trim()
  const found =
    /^(?:[\w.-]+@)?([\w.-]+\.[\w-]+):(?!\/)([^\s?#:@]+)$/.exec(text) ??
    /^(?:git\+)?ssh:\/\/(?:[\w.-]+@)?([\w.-]+)(?::\d+)?\/([^\s?#:@]+)$/.exec(text)
  return found === null ? undefined : normaliseAddress(`https://${found[1]}/${found[2]}`, httpsOnly)
}
