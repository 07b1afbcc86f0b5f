import { Effect, Schema } from "effect"
import { hostAddress, isPublicAddress } from "./AddressPolicy.ts"
import { AddressResolver } from "./AddressResolver.ts"
import { GitAddressRefused, GitUnreachable } from "./GitError.ts"
import { GitPolicy } from "./GitPolicy.ts"
import { GitAddress } from "../../schema/git/GitAddress.ts"

/**
 * A repository with the checked addresses of its host. All connections of one operation use these addresses. The name is never
 * resolved again, so a changed DNS response cannot redirect the connections.
 */
export const GitEndpoint = Schema.Struct({
  url: GitAddress,
  addresses: Schema.NonEmptyArray(Schema.String),
  /** Set for the built-in sample repository. It is read from memory, so `addresses` is never contacted. */
  builtIn: Schema.optionalKey(Schema.Literal(true))
})
export type GitEndpoint = typeof GitEndpoint.Type

/** Resolves a host name. `whose` describes the owner of the host. */
const lookUp = Effect.fnUntraced(function* (hostname: string, whose: string) {
  const literal = hostAddress(hostname)
  if (literal !== undefined) return [literal]
  const resolver = yield* AddressResolver
  return yield* resolver
    .resolve(hostname)
    .pipe(Effect.mapError(() => new GitUnreachable({ message: `The host ${hostname} ${whose} could not be found.` })))
})

/**
 * Resolves a host once. Fails if any of its addresses is not public, unless the operator allows the origin. The error mentions
 * `setting`, which the operator can change to allow the origin.
 */
export const pinnedAddresses = Effect.fn("pinnedAddresses")(function* (
  { hostname, origin }: URL,
  whose: string,
  setting?: string
): Effect.fn.Return<GitEndpoint["addresses"], GitAddressRefused | GitUnreachable, GitPolicy> {
  const policy = yield* GitPolicy
  const [first, ...rest] = yield* lookUp(hostname, whose)
  if (first === undefined)
    return yield* new GitUnreachable({ message: `The host ${hostname} ${whose} has no address.` })
  const addresses = [first, ...rest] as const
  if (!policy.allowOrigins.includes(origin) && !addresses.every(isPublicAddress))
    return yield* new GitAddressRefused({
      host: hostname,
      message: `The host ${hostname} ${whose} has an address that is not public. An operator can allow its origin by name${setting === undefined ? "" : `, with ${setting}`}.`
    })
  return addresses
})

/** Resolves and checks the host of a repository. */
export const pinEndpoint = Effect.fn("pinEndpoint")(function* (
  url: GitAddress
): Effect.fn.Return<GitEndpoint, GitAddressRefused | GitUnreachable, GitPolicy> {
  const { sample } = yield* GitPolicy
  if (url === sample) return { url, addresses: ["memory"], builtIn: true }
  return { url, addresses: yield* pinnedAddresses(new URL(url), "of the Git URL", "SVC_GIT_ALLOW_ORIGINS") }
})
