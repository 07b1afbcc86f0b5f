import * as http from "node:http"
import * as https from "node:https"
import { isIP } from "node:net"
import { hostAddress } from "./AddressPolicy.ts"

export interface Outgoing {
  readonly url: URL
  readonly method: string
  readonly headers: Record<string, string>
  readonly body: Buffer | undefined
  readonly signal: AbortSignal
  /** The agent that pools connections, or `false` for a connection that is not reused. */
  readonly agent?: false
}

/**
 * Sends a request to one checked address of its host, without redirects or proxies, regardless of what the name currently
 * resolves to. Resolves with the head of the response, or rejects with the connection's error.
 */
export const pinnedRequest = (outgoing: Outgoing, address: string) =>
  new Promise<http.IncomingMessage>((resolve, reject) => {
    const secure = outgoing.url.protocol === "https:"
    const family = isIP(address)
    const isName = hostAddress(outgoing.url.hostname) === undefined
    const request = (secure ? https : http).request(outgoing.url, {
      method: outgoing.method,
      headers: outgoing.headers,
      signal: outgoing.signal,
      ...(outgoing.agent === undefined ? {} : { agent: outgoing.agent }),
      // Pin the address: the name in the URL determines only the Host header and the certificate.
      lookup: (_hostname, options, callback) =>
        options.all === true ? callback(null, [{ address, family }]) : callback(null, address, family),
      ...(secure && isName ? { servername: outgoing.url.hostname } : {})
    })
    request.once("response", resolve)
    request.once("error", reject)
    request.end(outgoing.body)
  })
