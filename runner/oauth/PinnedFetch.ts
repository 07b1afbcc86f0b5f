import type { IncomingMessage } from "node:http"
import type { CustomFetch } from "openid-client"
import { pinnedRequest } from "../git/PinnedRequest.ts"

/** Size limit for an authorization server's responses: documents and tokens are small. */
const maxAnswerBytes = 256 * 1024

/** A response that exceeds the limit. */
class AnswerTooLong extends Error {
  override readonly name = "AnswerTooLong"
}

const bodyOf = async (response: IncomingMessage): Promise<Uint8Array<ArrayBuffer>> => {
  const parts: Array<Uint8Array> = []
  let received = 0
  try {
    for await (const chunk of response) {
      received += chunk.length
      if (received > maxAnswerBytes) throw new AnswerTooLong(`more than ${maxAnswerBytes} bytes`)
      parts.push(chunk)
    }
    if (!response.complete) throw new Error("the answer ended too early")
  } finally {
    response.destroy()
  }
  return new Uint8Array(Buffer.concat(parts))
}

const encoded = (body: Parameters<CustomFetch>[1]["body"]): Buffer | undefined => {
  if (body === undefined || body === null) return undefined
  if (typeof body === "string" || body instanceof URLSearchParams) return Buffer.from(body.toString())
  if (body instanceof ArrayBuffer) return Buffer.from(body)
  if (body instanceof Uint8Array) return Buffer.from(body)
  throw new Error("a body of this kind is never sent")
}

/**
 * True if the request was never sent. In every other case the server may have received the request, and a token request is never
 * repeated.
 */
const neverConnected = (error: unknown): boolean =>
  error instanceof Error &&
  "code" in error &&
  ["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL"].includes(String(error.code))

/**
 * The fetch function for the library: limited to one origin and its checked addresses, with limits on bytes and by the signal. A
 * redirect is returned like any other response, and the library refuses it.
 */
export const pinnedFetch =
  (origin: string, addresses: ReadonlyArray<string>): CustomFetch =>
  async (address, { body, headers, method, signal }) => {
    const url = new URL(address)
    if (url.origin !== origin) throw new Error("the address is of another origin than the one that was checked")
    const sent = encoded(body)
    const outgoing = {
      url,
      method,
      headers: {
        ...headers,
        "accept-encoding": "identity",
        ...(sent === undefined ? {} : { "content-length": String(sent.length) })
      },
      body: sent,
      signal: signal ?? AbortSignal.timeout(30_000)
    }
    let failure: unknown = new Error("the host has no address")
    for (const candidate of addresses) {
      const response = await pinnedRequest(outgoing, candidate).catch((error: unknown) => {
        failure = error
        return undefined
      })
      if (response === undefined) {
        if (method === "GET" || neverConnected(failure)) continue
        break
      }
      const status = response.statusCode ?? 0
      const answered = new Headers()
      for (const name of ["content-type", "www-authenticate", "location", "date"]) {
        const value = response.headers[name]
        if (typeof value === "string") answered.set(name, value)
      }
      const bytes = await bodyOf(response)
      const empty = status === 204 || status === 205 || status === 304
      return new Response(empty ? null : bytes, { status, headers: answered })
    }
    throw failure
  }
