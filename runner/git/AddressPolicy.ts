import ipaddr from "ipaddr.js"

const globalUnicast: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse("2000::"), 3]

/**
 * Used instead of `ipaddr.isValid`, which throws and catches an error for every host name. These errors took 1% of the time
 * needed to create a Source.
 */
const isAddress = (text: string): boolean =>
  ipaddr.IPv6.isValid(text) || (ipaddr.IPv4.isIPv4(text) && ipaddr.IPv4.isValid(text))

const parse = (address: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined =>
  isAddress(address) ? ipaddr.parse(address) : undefined

/**
 * Returns true if an address belongs to the public internet. Returns false for loopback, private, link-local, shared,
 * multicast, documentation and reserved ranges, and for every IPv6 address that embeds an IPv4 address from such a range.
 */
export const isPublicAddress = (address: string): boolean => {
  const parsed = parse(address)
  if (parsed === undefined) return false
  if (parsed.range() !== "unicast") return false
  return parsed instanceof ipaddr.IPv4 || parsed.match(globalUnicast)
}

/** Returns the IP address in the host of a URL, or `undefined` if the host is a name. IPv6 addresses may be in brackets. */
export const hostAddress = (host: string): string | undefined => {
  const bare = host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host
  return isAddress(bare) ? bare : undefined
}
