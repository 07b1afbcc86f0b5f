import {
  type AddressProblem,
  formatServerAddress,
  isAddress,
  readServerAddress,
  type ServerAddress
} from "./ServerAddress.ts"

/**
 * A caller's rule for addresses: the reason for a refusal, as the end of a sentence, or `undefined` if the caller accepts the
 * address.
 */
export type AddressRule = (address: ServerAddress) => string | undefined

/** Git is reached over HTTPS. Anything else that an operator allows is handled by the policy in `runner/git`. */
export const httpsOnly: AddressRule = ({ scheme }) => (scheme === "https" ? undefined : "must start with https://.")

/** For addresses that are also checked against the operator's policy. */
export const anyScheme: AddressRule = () => undefined

/** The grammar of fetchable repository addresses: http or https with a path, if the rule allows it. */
export const readRepositoryAddress = (text: string, rule: AddressRule = anyScheme): ServerAddress | AddressProblem => {
  const address = readServerAddress(text)
  if (!isAddress(address)) return address
  if (address.scheme === "ssh") return { problem: "must start with https://." }
  if (address.segments.length === 0) return { problem: "has no path." }
  const problem = rule(address)
  return problem === undefined ? address : { problem }
}

/** The normal form of a repository's address, or `undefined` for any other string. */
export const normaliseAddress = (text: string, rule?: AddressRule): string | undefined => {
  const address = readRepositoryAddress(text, rule)
  return isAddress(address) ? formatServerAddress(address) : undefined
}

/** True if two addresses, in any spelling, refer to the same repository. */
export const isSameRepository = (one: string, other: string): boolean =>
  (normaliseAddress(one) ?? one) === (normaliseAddress(other) ?? other)
