import { Effect, Schema } from "effect"
import { hostAddress, isPublicAddress } from "./AddressPolicy.ts"
import { AddressResolver } from "./AddressResolver.ts"
import { GitAddressRefused, GitUnreachable } from "./GitError.ts"
import { GitPolicy } from "./GitPolicy.ts"
import { GitUrl } from "./GitUrl.ts"

/**
 * A repository with the addresses its host was checked to have. Every connection of one operation goes to these and the
 * name is never asked again, so a name that changes its answer changes nothing.
 */
export const GitEndpoint = Schema.Struct({ url: GitUrl, addresses: Schema.NonEmptyArray(Schema.String) })
export type GitEndpoint = typeof GitEndpoint.Type

const lookUp = Effect.fnUntraced(function* (hostname: string) {
  const literal = hostAddress(hostname)
  if (literal !== undefined) return [literal]
  const resolver = yield* AddressResolver
  return yield* resolver
    .resolve(hostname)
    .pipe(
      Effect.mapError(() => new GitUnreachable({ message: `The host ${hostname} of the Git URL could not be found.` }))
    )
})

/** Resolves the host once and refuses it when any of its addresses is not public, unless the operator allows the origin. */
export const pinEndpoint = Effect.fn("pinEndpoint")(function* (
  url: GitUrl
): Effect.fn.Return<GitEndpoint, GitAddressRefused | GitUnreachable, GitPolicy> {
  const policy = yield* GitPolicy
  const { hostname, origin } = new URL(url)
  const [first, ...rest] = yield* lookUp(hostname)
  if (first === undefined)
    return yield* new GitUnreachable({ message: `The host ${hostname} of the Git URL has no address.` })
  const addresses = [first, ...rest] as const
  if (!policy.allowOrigins.includes(origin) && !addresses.every(isPublicAddress))
    return yield* new GitAddressRefused({
      host: hostname,
      message: `The host ${hostname} of the Git URL has an address that is not public. An operator can allow its origin by name.`
    })
  return { url, addresses }
})
