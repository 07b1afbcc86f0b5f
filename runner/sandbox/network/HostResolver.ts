import { readFile } from "node:fs/promises"
import { Effect } from "effect"
import ipaddr from "ipaddr.js"

/** Address of a Run's resolver: an unused address that leads to the host's resolver, on port 53 only. */
export const resolverInside = "169.254.1.1"

/**
 * - `upstream`: the resolver behind the inner address; undefined for the host's default
 * - `resolvConf`: the Run's /etc/resolv.conf
 */
export interface HostResolver {
  readonly upstream: string | undefined
  readonly resolvConf: string
}

const lines = (text: string) => text.split("\n").map((line) => line.trim())
const resolversOf = (text: string) =>
  lines(text).flatMap((line) => {
    const [word, address = ""] = line.split(/\s+/)
    return word === "nameserver" && ipaddr.IPv4.isValid(address) ? [address] : []
  })
const isLoopback = (address: string) => ipaddr.IPv4.parse(address).range() === "loopback"

/**
 * Finds the resolver for a private network. A private network cannot reach a resolver on the host's loopback, so the upstream is
 * used if systemd-resolved lists one. Returns `undefined` if the host's resolver has only IPv6 addresses, because no change
 * is needed then.
 */
export const resolverFor = (resolvConf: string, uplink: string): HostResolver | undefined => {
  const [first] = resolversOf(resolvConf)
  if (first === undefined) return undefined
  const upstream = isLoopback(first) ? resolversOf(uplink).find((address) => !isLoopback(address)) : undefined
  const rest = lines(resolvConf).filter((line) => /^(search|domain|options)\s/.test(line))
  return { upstream, resolvConf: [`nameserver ${resolverInside}`, ...rest, ""].join("\n") }
}

const read = (path: string) => Effect.tryPromise(() => readFile(path, "utf8")).pipe(Effect.orElseSucceed(() => ""))

export const hostResolver = Effect.gen(function* () {
  return resolverFor(yield* read("/etc/resolv.conf"), yield* read("/run/systemd/resolve/resolv.conf"))
})
