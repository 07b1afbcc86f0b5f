import { Result } from "effect"

/** An address on a Git server, split into parts that every reader understands alike. */
export interface GitAddress {
  readonly scheme: "https" | "http" | "ssh"
  /** In lower case; an IPv6 address is in brackets. */
  readonly hostname: string
  /** Empty for the standard port of the scheme. */
  readonly port: string
  /** Scheme, host, and port where it is not the standard one. */
  readonly origin: string
  /** Empty for the origin alone. */
  readonly segments: ReadonlyArray<string>
}

const maxCharacters = 2048
const maxPort = 65_535
const visibleAscii = /^[\x21-\x7e]+$/
/** Scheme, host, port and path exactly as written, so that nothing a URL parser repairs gets through. */
const shape = /^(https?|ssh):\/\/((?:\[[0-9A-Fa-f:.]{2,64}\])|[^/?#@\\:[\]]+)(?::([1-9]\d{0,4}))?((?:\/[^?#\\]*)?)$/
const encodedControl = /%(?:[01][0-9a-f]|7f|2e|2f|5c|25)/i
const standardPorts = { https: "443", http: "80", ssh: "22" } as const

const segmentsOf = (path: string): ReadonlyArray<string> =>
  path === "" || path === "/" ? [] : path.slice(1).replace(/\/$/, "").split("/")

/**
 * Reads an address of which nothing is user information, a query or a fragment. The text is compared with what a URL
 * parser makes of it, so that no reader sees another host or path. Fails with the end of a sentence about the address,
 * which never repeats it: it may hold a password.
 */
export const parseGitAddress = (text: string): Result.Result<GitAddress, string> => {
  if (text.length > maxCharacters) return Result.fail(`is longer than ${maxCharacters} characters.`)
  if (!visibleAscii.test(text)) return Result.fail("holds white space or characters outside ASCII.")
  const [, scheme, host, writtenPort = "", path] = shape.exec(text) ?? []
  if ((scheme !== "https" && scheme !== "http" && scheme !== "ssh") || host === undefined || path === undefined)
    return Result.fail("must be a URL without user name, password, query or fragment.")
  // As https, since a URL parser normalises the hosts of web addresses only. The port is read above.
  const url = URL.parse(`https://${host}${path}`)
  if (url === null || Number(writtenPort) > maxPort) return Result.fail("cannot be read.")
  if (host.toLowerCase() !== url.hostname) return Result.fail("does not have its host in plain form.")
  if (url.hostname.endsWith(".")) return Result.fail("has a host that ends with a dot.")
  const segments = segmentsOf(path)
  if (
    (path !== "" && path !== url.pathname) ||
    encodedControl.test(path) ||
    segments.some((segment) => /^\.{0,2}$/.test(segment))
  )
    return Result.fail("has a path with empty, dot or encoded segments.")
  const port = writtenPort === standardPorts[scheme] ? "" : writtenPort
  const origin = `${scheme}://${url.hostname}${port === "" ? "" : `:${port}`}`
  return Result.succeed({ scheme, hostname: url.hostname, port, origin, segments })
}
