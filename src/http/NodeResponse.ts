import type { IncomingMessage, ServerResponse } from "node:http"
import { setImmediate } from "node:timers/promises"

const headersOf = (response: Response): Record<string, string | Array<string>> => {
  const headers: Record<string, string | Array<string>> = Object.fromEntries(response.headers)
  const cookies = response.headers.getSetCookie()
  if (cookies.length > 0) headers["set-cookie"] = cookies
  return headers
}

/** Resolves when the client has received what was written, or has disconnected. */
const taken = (outgoing: ServerResponse) =>
  new Promise<void>((resolve) => {
    const settle = () => {
      outgoing.off("drain", settle)
      outgoing.off("close", settle)
      resolve()
    }
    outgoing.on("drain", settle)
    outgoing.on("close", settle)
  })

/** Sends a response at the pace of its reader. The body is cancelled when the reader disconnects. */
export const writeResponse = async (
  response: Response,
  incoming: IncomingMessage,
  outgoing: ServerResponse
): Promise<void> => {
  if (outgoing.destroyed) return void response.body?.cancel().catch(() => {})
  const headers = headersOf(response)
  if (response.body === null || incoming.method === "HEAD") {
    if (
      response.body === null &&
      incoming.method !== "HEAD" &&
      response.status >= 200 &&
      response.status !== 204 &&
      response.status !== 304
    )
      headers["content-length"] = "0"
    outgoing.writeHead(response.status, headers).end()
    await response.body?.cancel().catch(() => {})
    return
  }
  const reader = response.body.getReader()
  outgoing.on("close", () => {
    if (!outgoing.writableFinished) void reader.cancel().catch(() => {})
  })
  try {
    let next = await reader.read()
    if (!next.done && headers["content-length"] === undefined) {
      // Most bodies are a single chunk. If the stream ends right after it, the length is known.
      const first = next.value
      const second = reader.read()
      const settled = await Promise.race([second, setImmediate(undefined)])
      if (settled?.done === true) {
        outgoing.writeHead(response.status, { ...headers, "content-length": String(first.byteLength) }).end(first)
        return
      }
      outgoing.writeHead(response.status, headers)
      if (!outgoing.write(first)) await taken(outgoing)
      next = await second
    } else {
      outgoing.writeHead(response.status, headers)
    }
    while (!next.done && !outgoing.destroyed) {
      if (!outgoing.write(next.value)) await taken(outgoing)
      next = await reader.read()
    }
    outgoing.end()
  } catch {
    // A body that failed midway must not look complete.
    outgoing.destroy()
  }
}
