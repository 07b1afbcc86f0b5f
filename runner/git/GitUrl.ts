import { Result, Schema } from "effect"
import { type GitAddress, parseGitAddress } from "../../schema/handoff/GitAddress.ts"
import { hostAddress, isPublicAddress } from "./AddressPolicy.ts"
import { GitUrlRefused } from "./GitError.ts"

/** An address to fetch from: origin and path, no trailing slash, nothing else. Only `parseGitUrl` makes one. */
export const GitUrl = Schema.String.pipe(Schema.brand("GitUrl"))
export type GitUrl = typeof GitUrl.Type

interface OriginPolicy {
  readonly allowOrigins: ReadonlyArray<string>
}

const wellKnownPorts = 1024
const expected = "Write it like https://git.example.com/team/repository.git."

const refuse = (problem: string) => Result.fail(new GitUrlRefused({ message: `The Git URL ${problem}` }))

/**
 * Why Git is not reached at this address: it has to be https, on an ordinary port and not at a private address literal,
 * unless the operator allows the origin by name. The end of a sentence about the address.
 */
export const originProblem = (address: GitAddress, policy: OriginPolicy): string | undefined => {
  if (policy.allowOrigins.includes(address.origin)) return undefined
  if (address.scheme !== "https") return "must start with https://. An operator can allow one http origin by name."
  const literal = hostAddress(address.hostname)
  if (literal !== undefined && !isPublicAddress(literal))
    return "has a host that is not a public address. An operator can allow its origin by name."
  if (address.port !== "" && Number(address.port) < wellKnownPorts) return "names a port below 1024 other than 443."
  return undefined
}

/**
 * Reads a Git URL as a user gives it: https (or an origin the operator allows), host and path, no user name, password,
 * query or fragment.
 */
export const parseGitUrl = (text: string, policy: OriginPolicy): Result.Result<GitUrl, GitUrlRefused> => {
  const parsed = parseGitAddress(text)
  if (Result.isFailure(parsed)) return refuse(`${parsed.failure} ${expected}`)
  const address = parsed.success
  if (address.scheme === "ssh") return refuse(`must start with https://. ${expected}`)
  if (address.segments.length === 0) return refuse(`has no path. ${expected}`)
  const problem = originProblem(address, policy)
  if (problem !== undefined) return refuse(problem)
  return Result.succeed(GitUrl.make(`${address.origin}/${address.segments.join("/")}`))
}
