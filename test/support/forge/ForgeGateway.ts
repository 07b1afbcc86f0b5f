import { gunzipSync } from "node:zlib"
import { request as httpRequest } from "node:http"
import { Effect } from "effect"
import { loopback } from "../LoopbackServer.ts"

/** The Git requests that a repository received. */
export interface GitRequests {
  /** Lists of refs. */
  lists: number
  /** Reads of the newest commits, without files. */
  histories: number
  /** Fetches of a commit with its files. */
  fetches: number
}

const count = (requests: GitRequests, body: string) => {
  if (body.includes("command=ls-refs")) requests.lists++
  if (body.includes("command=fetch")) requests[body.includes("filter tree:0") ? "histories" : "fetches"]++
}

/**
 * Serves a fake forge's API and a repository at one origin, as real forges do. `git` returns the origin of the repository's own
 * server, and `path` is the repository's path on the forge.
 */
export const forgeGateway = Effect.fnUntraced(function* (forge: string, path: string, git: () => string) {
  const requests: GitRequests = { lists: 0, histories: 0, fetches: 0 }
  let gate = Promise.resolve()
  /** Holds Git requests that arrive from now on, and returns the effect that lets them pass. */
  const held = Effect.sync(() => {
    let open = () => {}
    gate = new Promise<void>((resolve) => {
      open = resolve
    })
    return Effect.sync(() => open())
  })
  const origin = yield* loopback((incoming, response) => {
    const { headers, method, url = "/" } = incoming
    const isApi = url.startsWith("/api/")
    const target = new URL(isApi ? url : url.replace(`/${path}.git`, "/repository.git"), isApi ? forge : git())
    const parts: Array<Buffer> = []
    incoming.on("data", (part: Buffer) => parts.push(part))
    incoming.on("end", () => {
      const body = Buffer.concat(parts)
      if (!isApi) count(requests, String(headers["content-encoding"] === "gzip" ? gunzipSync(body) : body))
      const outgoing = httpRequest(target, { method, headers: { ...headers, host: target.host } }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(response)
      })
      outgoing.on("error", () => response.destroy())
      response.on("close", () => outgoing.destroy())
      void (isApi ? Promise.resolve() : gate).then(() => outgoing.end(body))
    })
  })
  return { origin, url: `${origin}/${path}.git`, requests, held }
})
