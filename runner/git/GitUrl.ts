import { Result, Schema } from "effect"
import { hostAddress, isPublicAddress } from "./AddressPolicy.ts"
import { GitUrlRefused } from "./GitError.ts"

/** An address to fetch from: origin and path, no trailing slash, nothing else. Only `parseGitUrl` makes one. */
export const GitUrl = Schema.String.pipe(Schema.brand("GitUrl"))
export type GitUrl = typeof GitUrl.Type

const maxCharacters = 2048
const visibleAscii = /^[\x21-\x7e]+$/
/** scheme, authority and path exactly as written, so that nothing a URL parser repairs gets through. */
const shape = /^(https?):\/\/([^/?#@\\]+)(\/[^?#\\]*)$/
const encodedControl = /%(?:[01][0-9a-f]|7f|2e|2f|5c|25)/i
const wellKnownPorts = 1024

const refuse = (message: string) => Result.fail(new GitUrlRefused({ message }))

const expected = "Write it like https://git.example.com/team/repository.git."

const splitPath = (path: string): ReadonlyArray<string> => path.slice(1).replace(/\/$/, "").split("/")

/**
 * Reads a Git URL as a user gives it: https (or an origin the operator allows), host and path, no user name, password,
 * query or fragment. The text is compared with what a URL parser makes of it, so that no reader sees another host.
 */
export const parseGitUrl = (
  text: string,
  policy: { readonly allowOrigins: ReadonlyArray<string> }
): Result.Result<GitUrl, GitUrlRefused> => {
  if (text.length > maxCharacters) return refuse(`The Git URL is longer than ${maxCharacters} characters.`)
  if (!visibleAscii.test(text)) return refuse(`The Git URL holds white space or characters outside ASCII. ${expected}`)
  const parts = shape.exec(text)
  const [, scheme, authority, path] = parts ?? []
  if (scheme === undefined || authority === undefined || path === undefined)
    return refuse(`The Git URL must be an https URL without user name, password, query or fragment. ${expected}`)
  if (!URL.canParse(text)) return refuse(`The Git URL cannot be read. ${expected}`)
  const url = new URL(text)
  const allowed = policy.allowOrigins.includes(url.origin)
  if (scheme !== "https" && !allowed)
    return refuse("The Git URL must start with https://. An operator can allow one http origin by name.")
  const standardPort = scheme === "https" ? ":443" : ":80"
  if (authority.toLowerCase() !== url.host && authority.toLowerCase() !== `${url.host}${standardPort}`)
    return refuse("The host of the Git URL is not in its plain form.")
  if (url.hostname.endsWith(".")) return refuse("The host of the Git URL ends with a dot.")
  const segments = splitPath(path)
  if (path !== url.pathname || encodedControl.test(path) || segments.some((segment) => /^\.{0,2}$/.test(segment)))
    return refuse("The path of the Git URL is empty, or holds empty, dot or encoded segments.")
  if (!allowed) {
    const address = hostAddress(url.hostname)
    if (address !== undefined && !isPublicAddress(address))
      return refuse("The host of the Git URL is not a public address. An operator can allow its origin by name.")
    if (url.port !== "" && Number(url.port) < wellKnownPorts)
      return refuse("The Git URL names a port below 1024 other than 443.")
  }
  return Result.succeed(GitUrl.make(`${url.origin}/${segments.join("/")}`))
}
