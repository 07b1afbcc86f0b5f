/** Schemes that a browser executes or reads locally instead of passing to an app. */
const forbiddenSchemes: ReadonlySet<string> = new Set([
  "javascript:",
  "data:",
  "vbscript:",
  "file:",
  "blob:",
  "about:",
  "filesystem:",
  "view-source:",
  "ws:",
  "wss:",
  "ftp:"
])

const loopbackHosts: ReadonlySet<string> = new Set(["127.0.0.1", "[::1]", "localhost"])

export type ApplicationType = "web" | "native"

const isLoopback = (url: URL) => url.protocol === "http:" && loopbackHosts.has(url.hostname)

/** Returns true for a loopback address. Requests to such an address never leave the machine. */
export const isLoopbackAddress = (text: string): boolean => {
  const url = URL.parse(text)
  return url !== null && loopbackHosts.has(url.hostname)
}

/**
 * Returns true for a redirect URI that is only suitable for development. Unlike a numeric address, the name `localhost` may
 * resolve to another machine (RFC 8252, 8.3), and any program that listens on the port gets the code.
 */
export const isLocalhost = (text: string): boolean => /^http:\/\/localhost(?:[:/?]|$)/.test(text)

/** Returns the reason why a client cannot register this redirect URI, or `undefined` if the URI is valid. */
export const redirectUriFault = (text: string, type: ApplicationType): string | undefined => {
  const url = URL.parse(text)
  if (url === null || /[\s\p{Cc}]/u.test(text)) return "is no absolute URI"
  if (text.includes("#")) return "has a fragment: leave out everything from # on"
  if (url.username !== "" || url.password !== "") return "holds a user name or password"
  if (text.includes("*")) return "holds a wildcard: name every address"
  if (url.protocol === "https:") return undefined
  if (isLoopback(url)) return undefined
  if (url.protocol === "http:") return "uses http outside loopback: use https, or http://localhost for development"
  if (forbiddenSchemes.has(url.protocol)) return "has a scheme that browsers run themselves"
  return type === "native"
    ? undefined
    : "has a custom scheme, which only native clients may use: set application_type to native"
}

const loopbackPattern = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(:[0-9]{1,5})?((?:\/|\?|$).*)$/s

const withoutPort = (text: string): string | undefined => {
  const match = loopbackPattern.exec(text)
  return match === null ? undefined : `${match[1]}${match[3]}`
}

/**
 * Returns true if the registered URI matches any port. That is the case for a native app, and for a `localhost` URI
 * registered without a port, because development servers choose their own port.
 */
const leavesPortOpen = (registered: string, type: ApplicationType): boolean =>
  type === "native" || (isLocalhost(registered) && loopbackPattern.exec(registered)?.[2] === undefined)

/**
 * Returns true if the redirect URI of a request is registered. Compares exact characters, because any normalisation could be
 * exploited. The port may differ only for native apps, which cannot predict the port of their loopback listener (RFC 8252).
 */
export const isRegisteredRedirect = (
  given: string,
  registered: ReadonlyArray<string>,
  type: ApplicationType
): boolean => {
  if (registered.includes(given)) return true
  const portless = withoutPort(given)
  return (
    portless !== undefined && registered.some((known) => leavesPortOpen(known, type) && withoutPort(known) === portless)
  )
}
