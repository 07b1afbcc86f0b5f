import {
  type AddressProblem,
  formatServerAddress,
  isAddress,
  readServerAddress,
  type ServerAddress
} from "./ServerAddress.ts"

/** A rule for addresses. Returns `undefined` if it accepts the address; otherwise the reason, which completes a sentence. */
export type AddressRule = (address: ServerAddress) => string | undefined

/** Accepts only HTTPS. The policy in `runner/git` handles everything else that an operator allows. */
export const httpsOnly: AddressRule = ({ scheme }) => (scheme === "https" ? undefined : "must start with https://.")

/** Accepts any scheme. Use it only for addresses that are also checked against the operator's policy. */
export const anyScheme: AddressRule = () => undefined

/** Parses a repository address that can be fetched: http or https with a path, if the rule allows it. */
export const readRepositoryAddress = (text: string, rule: AddressRule = anyScheme): ServerAddress | AddressProblem => {
  const address = readServerAddress(text)
  if (!isAddress(address)) return address
  if (address.scheme === "ssh") return { problem: "must start with https://." }
  if (address.segments.length === 0) return { problem: "has no path." }
  const problem = rule(address)
  return problem === undefined ? address : { problem }
}

/** Normalises a repository address. Returns `undefined` for any other string. */
export const normaliseAddress = (text: string, rule?: AddressRule): string | undefined => {
  const address = readRepositoryAddress(text, rule)
  return isAddress(address) ? formatServerAddress(address) : undefined
}

/** Returns true if two addresses refer to the same repository after normalisation. */
export const isSameRepository = (one: string, other: string): boolean =>
  (normaliseAddress(one) ?? one) === (normaliseAddress(other) ?? other)
