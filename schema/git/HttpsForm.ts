import { httpsOnly, normaliseAddress } from "./RepositoryAddress.ts"

/** True if the server can read from this address. */
export const isReadable = (typed: string): boolean => normaliseAddress(typed.trim()) !== undefined

/** The https form of a repository address written for ssh, such as `git@host:a/b` or `ssh://git@host/a/b`. */
export const httpsForm = (typed: string): string | undefined => {
  const text = typed.trim()
  const found =
    /^(?:[\w.-]+@)?([\w.-]+\.[\w-]+):(?!\/)([^\s?#:@]+)$/.exec(text) ??
    /^(?:git\+)?ssh:\/\/(?:[\w.-]+@)?([\w.-]+)(?::\d+)?\/([^\s?#:@]+)$/.exec(text)
  return found === null ? undefined : normaliseAddress(`https://${found[1]}/${found[2]}`, httpsOnly)
}
