// Must not import Effect, because the first script of the dashboard also loads this module.

/** An address on a Git server, split into parts that every program interprets in the same way. */
export interface ServerAddress {
  readonly scheme: "https" | "http" | "ssh"
  /** In lower case. An IPv6 address is in brackets. */
  readonly hostname: string
  /** Empty for the default port of the scheme. */
  readonly port: string
  /** Scheme, host, and the port unless it is the default. */
  readonly origin: string
  /** Empty for an origin without a path. */
  readonly segments: ReadonlyArray<string>
}

/**
 * The reason why a string is not a valid address. The text completes a sentence. It never contains the string, which may include
 * a password.
 */
export interface AddressProblem {
  readonly problem: string
}

export const isAddress = (read: ServerAddress | AddressProblem): read is ServerAddress => !("problem" in read)

export const maxAddressCharacters = 2048
const maxPort = 65_535
const visibleAscii = /^[\x21-\x7e]+$/
/** Matches scheme, host, port and path as written. Rejects addresses that a URL parser would have to repair. */
const shape = /^(https?|ssh):\/\/((?:\[[0-9A-Fa-f:.]{2,64}\])|[^/?#@\\:[\]]+)(?::([1-9]\d{0,4}))?((?:\/[^?#\\]*)?)$/
/**
 * Matches a label of a host name. Rejects a leading or trailing `-`, because curl reads `-host:443:address` as the removal of a
 * pinned address.
 */
const plainLabel = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/
/** Characters that RFC 3986 allows in a path segment. */
const plainSegment = /^(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+$/
const encodedControl = /%(?:[01][0-9a-f]|7f|2e|2f|5c|25)/i
const standardPorts = { https: "443", http: "80", ssh: "22" } as const

const segmentsOf = (path: string): ReadonlyArray<string> =>
  path === "" || path === "/" ? [] : path.slice(1).replace(/\/$/, "").split("/")

const isPlainPath = (path: string, segments: ReadonlyArray<string>) =>
  !encodedControl.test(path) &&
  segments.every((segment) => plainSegment.test(segment) && segment !== "." && segment !== "..")

/**
 * Parses an address without user information, query or fragment. Compares the result with that of a URL parser, to ensure that
 * every program sees the same host and path.
 */
export const readServerAddress = (text: string): ServerAddress | AddressProblem => {
  if (text.length > maxAddressCharacters) return { problem: `is longer than ${maxAddressCharacters} characters.` }
  if (!visibleAscii.test(text)) return { problem: "holds white space or characters outside ASCII." }
  const [, scheme, host, writtenPort = "", path] = shape.exec(text) ?? []
  if ((scheme !== "https" && scheme !== "http" && scheme !== "ssh") || host === undefined || path === undefined)
    return { problem: "must be a URL without user name, password, query or fragment." }
  // Parses the address as https, because URL parsers normalise the host only for web schemes. The port is parsed separately
  // above.
  const url = URL.parse(`https://${host}${path}`)
  if (url === null || Number(writtenPort) > maxPort) return { problem: "cannot be read." }
  if (host.toLowerCase() !== url.hostname) return { problem: "does not have its host in plain form." }
  if (url.hostname.endsWith(".")) return { problem: "has a host that ends with a dot." }
  if (!url.hostname.startsWith("[") && !url.hostname.split(".").every((label) => plainLabel.test(label)))
    return { problem: "has a host that is no plain name." }
  const segments = segmentsOf(path)
  if ((path !== "" && path !== url.pathname) || !isPlainPath(path, segments))
    return { problem: "has a path with empty, dot or encoded segments, or with characters that no URL path has." }
  const port = writtenPort === standardPorts[scheme] ? "" : writtenPort
  const origin = `${scheme}://${url.hostname}${port === "" ? "" : `:${port}`}`
  return { scheme, hostname: url.hostname, port, origin, segments }
}

/**
 * Formats an address in normal form: lower-case host, no default port, no trailing slash. All addresses of a repository have the
 * same normal form.
 */
export const formatServerAddress = ({ origin, segments }: ServerAddress): string => [origin, ...segments].join("/")
