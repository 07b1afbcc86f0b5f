import ipaddr from "ipaddr.js"

/**
 * - `auto`: the best network that this machine can provide
 * - `isolated`: a private network; if the machine cannot provide one, Runs are refused
 * - `host`: the machine's own network
 */
export type NetworkSetting = "auto" | "isolated" | "host"

export interface NetworkSettings {
  readonly reach: NetworkSetting
  /** Ranges such as `169.254.0.0/16` that no Run can reach from a private network. */
  readonly forbidden: ReadonlyArray<string>
  /** The program's name on PATH, or its absolute path. */
  readonly pasta: string
}

/**
 * Addresses of metadata services, which give credentials to any process on the machine: the link-local range, and the
 * addresses that two providers use outside this range.
 */
export const metadataRanges: ReadonlyArray<string> = ["169.254.0.0/16", "100.100.100.200/32", "fd00:ec2::254/128"]

/**
 * Formats a range for the kernel: adds the prefix length if it is missing, and clears the bits after the prefix. For
 * example, `10.1.2.3/8` becomes `10.0.0.0/8`.
 */
export const wholeRange = (range: string): string => {
  const cidr = range.includes("/") ? range : `${range}/${ipaddr.parse(range).kind() === "ipv4" ? 32 : 128}`
  const [address, length] = ipaddr.parseCIDR(cidr)
  const network = (address.kind() === "ipv4" ? ipaddr.IPv4 : ipaddr.IPv6).networkAddressFromCIDR(cidr)
  return `${network.toString()}/${length}`
}
