const ipAddress = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[.*\])$/
const loopbackAddress = /^(?:127(?:\.\d{1,3}){3}|\[::1\])$/

/** Passkeys are bound to a host name. They are not available on an IP address, or on a page without a secure connection. */
export const passkeysPossible = (hostname: string): boolean =>
  "PublicKeyCredential" in globalThis && globalThis.isSecureContext && !ipAddress.test(hostname)

/**
 * Returns the page's origin with `localhost` in place of a loopback address such as 127.0.0.1. Returns `undefined` for other
 * hosts.
 */
export const namedOrigin = ({
  hostname,
  port,
  protocol
}: Pick<Location, "hostname" | "port" | "protocol">): string | undefined =>
  loopbackAddress.test(hostname) ? `${protocol}//localhost${port === "" ? "" : `:${port}`}` : undefined
