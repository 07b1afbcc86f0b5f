import { Result } from "effect"
import { type GitAddress, parseGitAddress } from "../../schema/git/GitAddress.ts"
import type { AddressRule } from "../../schema/git/RepositoryAddress.ts"
import type { ServerAddress } from "../../schema/git/ServerAddress.ts"
import { hostAddress, isPublicAddress } from "./AddressPolicy.ts"
import { GitUrlRefused } from "./GitError.ts"

interface OriginPolicy {
  readonly allowOrigins: ReadonlyArray<string>
  readonly sample?: string | undefined
}

const wellKnownPorts = 1024

/**
 * Returns the reason why Git may not fetch from this address, phrased as the rest of a sentence about the address, or
 * `undefined` if Git may do so. Unless the operator allows the origin by name, the address must be https on an ordinary port
 * and must not be a private IP address.
 */
export const originProblem = (address: ServerAddress, policy: OriginPolicy): string | undefined => {
  if (policy.allowOrigins.includes(address.origin)) return undefined
  if (address.scheme !== "https")
    return "must start with https://. An operator can allow one http origin by name, with SVC_GIT_ALLOW_ORIGINS."
  const literal = hostAddress(address.hostname)
  if (literal !== undefined && !isPublicAddress(literal))
    return "has a host that is not a public address. An operator can allow its origin by name, with SVC_GIT_ALLOW_ORIGINS."
  if (address.port !== "" && Number(address.port) < wellKnownPorts) return "names a port below 1024 other than 443."
  return undefined
}

/** Converts the network policy to a rule for the address parser. */
export const fetchRule =
  (policy: OriginPolicy): AddressRule =>
  (address) =>
    originProblem(address, policy)

/**
 * Returns true for the built-in sample repository. Compares the whole address in its normal form: comparing an origin or a prefix
 * would open the server's other addresses to Git.
 */
const isSample = (text: string, { sample }: OriginPolicy): boolean => {
  const address = parseGitAddress(text)
  return sample !== undefined && Result.isSuccess(address) && address.success === sample
}

/** Parses the address of a repository, and checks it against the network policy. */
export const fetchableAddress = (text: string, policy: OriginPolicy): Result.Result<GitAddress, GitUrlRefused> =>
  Result.mapError(
    isSample(text, policy) ? parseGitAddress(text) : parseGitAddress(text, fetchRule(policy)),
    (problem) =>
      new GitUrlRefused({
        message: `The Git URL ${problem} Write it like https://git.example.com/team/repository.git.`
      })
  )
