import ipaddr from "ipaddr.js"

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number]

/** Parses `10.0.0.0/8`, `2001:db8::/32` or a single address. Returns `undefined` for any other text. */
export const parseAddressRange = (text: string): Range | undefined => {
  const single = ipaddr.isValid(text) ? ipaddr.process(text) : undefined
  if (single !== undefined) return [single, single.kind() === "ipv4" ? 32 : 128]
  return ipaddr.isValidCIDR(text) ? ipaddr.parseCIDR(text) : undefined
}

const isWithin = (address: string, ranges: ReadonlyArray<Range>): boolean => {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  return ranges.some(([network, bits]) => parsed.kind() === network.kind() && parsed.match(network, bits))
}

/**
 * Returns the client's address behind trusted proxies: the last address in `X-Forwarded-For` that is not a trusted proxy. Ignores
 * the header unless the connection comes from a trusted proxy, because anyone can send it.
 */
export const clientAddress = (
  peer: string | undefined,
  forwardedFor: string | null,
  trusted: ReadonlyArray<Range>
): string | undefined => {
  if (peer === undefined || forwardedFor === null || !isWithin(peer, trusted)) return peer
  const hops = forwardedFor.split(",").map((hop) => hop.trim())
  const client = hops.toReversed().find((hop) => !isWithin(hop, trusted))
  return client !== undefined && ipaddr.isValid(client) ? client : peer
}
