import type { IncomingMessage, ServerResponse } from "node:http"
import { Readable } from "node:stream"
import { type RequestHead, unnamedHost } from "./ServerPort.ts"

/** Methods that the `Request` constructor refuses but a server still has to answer. */
const forbidden: ReadonlySet<string> = new Set(["CONNECT", "TRACE", "TRACK"])
const withoutBody: ReadonlySet<string> = new Set(["GET", "HEAD", ...forbidden])

const headersOf = ({ rawHeaders }: IncomingMessage): Headers => {
  const headers = new Headers()
  // Names and values alternate. Unlike `headers`, this keeps headers that were sent twice.
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "")
  return headers
}

/** The target may be a path, a URL (absolute form), an authority (CONNECT) or a star. */
const urlOf = (host: string | null, { method, url = "/" }: IncomingMessage): string =>
  url.startsWith("/") ? `http://${host ?? unnamedHost}${url}` : method === "CONNECT" ? `http://${url}` : url

const bodyOf = (incoming: IncomingMessage): ReadableStream<Uint8Array> => {
  const reading = Readable.toWeb(incoming)
  const reader = reading.getReader()
  return new ReadableStream({
    pull: async (controller) => {
      const { done, value } = await reader.read()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason)
  })
}

/**
 * The head of a request received by Node, and its conversion to a `Request`. Its signal is aborted when the client disconnects.
 */
export const nodeRequest = (
  incoming: IncomingMessage,
  outgoing: ServerResponse
): { readonly head: RequestHead; readonly build: () => Request } => {
  const headers = headersOf(incoming)
  const host = headers.get("host")
  const url = urlOf(host, incoming)
  const method = incoming.method ?? "GET"
  const build = () => {
    const gone = new AbortController()
    outgoing.on("close", () => {
      if (!outgoing.writableFinished) gone.abort()
    })
    const init = { headers, signal: gone.signal }
    if (withoutBody.has(method)) {
      incoming.resume()
      const request = new Request(url, { ...init, method: forbidden.has(method) ? "GET" : method })
      if (forbidden.has(method)) Object.defineProperty(request, "method", { value: method })
      return request
    }
    const hasBody = headers.has("transfer-encoding") || Number(headers.get("content-length") ?? 0) > 0
    return new Request(url, { ...init, method, ...(hasBody ? { body: bodyOf(incoming), duplex: "half" } : {}) })
  }
  return { head: { host, url }, build }
}
