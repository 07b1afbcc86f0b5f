import { Effect } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { loopback } from "../LoopbackServer.ts"
import type {
  FakeAccount,
  FakeComment,
  FakePullRequest,
  FakeRepository,
  FakeToken,
  ForgeState,
  ForgeTrouble
} from "./ForgeState.ts"

/** A response of a fake forge. */
export interface FakeAnswer {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface FakeRequest {
  readonly method: string
  /** Path relative to the API's prefix. */
  readonly path: string
  readonly query: URLSearchParams
  readonly body: Readonly<Record<string, unknown>>
  readonly authorization: string
}

export const notFound: FakeAnswer = { status: 404, body: { message: "Not Found" } }
export const ok = (body: unknown): FakeAnswer => ({ status: 200, body })
export const made = (body: unknown): FakeAnswer => ({ status: 201, body })

export const text = (value: unknown): string => (typeof value === "string" ? value : "")

/** Returns one page of a list. */
export const pageOf = <A>(items: ReadonlyArray<A>, query: URLSearchParams, size: string): ReadonlyArray<A> => {
  const perPage = Math.min(100, Number(query.get(size) ?? 30))
  const page = Number(query.get("page") ?? 1)
  return items.slice((page - 1) * perPage, page * perPage)
}

/** Finds the repository that a request identifies by its path, its id, or a former path. */
export const lookedUp = (state: ForgeState, path: string) => {
  const current = state.repositories.find((one) => one.path === path)
  if (current !== undefined) return { repository: current.hidden ? undefined : current, moved: false }
  const former = state.repositories.find((one) => one.formerPaths.has(path))
  return { repository: former?.hidden === true ? undefined : former, moved: former !== undefined }
}

export const withId = (state: ForgeState, id: string): FakeRepository | undefined =>
  state.repositories.find((one) => String(one.id) === id && !one.hidden)

export const commentMade = (state: ForgeState, to: FakePullRequest, author: FakeAccount, body: string) => {
  const comment = { id: state.nextId(), author, body, at: new Date().toISOString() }
  to.comments.push(comment)
  return comment
}

/** Finds a comment on any pull request of a repository by the comment's id. */
export const commentWith = (repository: FakeRepository, id: string) => {
  for (const pullRequest of repository.pullRequests.values()) {
    const comment = pullRequest.comments.find((one) => String(one.id) === id)
    if (comment !== undefined) return comment
  }
  return undefined
}

export const commentRemoved = (repository: FakeRepository, comment: FakeComment): FakeAnswer => {
  for (const { comments } of repository.pullRequests.values()) {
    const index = comments.indexOf(comment)
    if (index >= 0) comments.splice(index, 1)
  }
  return { status: 204, body: {} }
}

export const may = (token: FakeToken, permission: string) => token.permissions.has(permission)

const mebibyteOfBlanks = Buffer.alloc(1024 * 1024, " ")

const bytesOf = async (request: IncomingMessage): Promise<Buffer> => {
  const parts: Array<Buffer> = []
  for await (const part of request) parts.push(Buffer.from(part))
  return Buffer.concat(parts)
}

const bodyOf = async (request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> => {
  const written = (await bytesOf(request)).toString()
  return written === "" ? {} : JSON.parse(written)
}

/** Forwards Git requests to the server with the repository. */
const passToGit = async (git: string, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const [, rest = ""] = (request.url ?? "").split(".git")
  const headers = ["accept", "accept-encoding", "content-encoding", "content-type", "git-protocol"].flatMap((name) => {
    const value = request.headers[name]
    return typeof value === "string" ? [[name, value] as const] : []
  })
  const sent = await bytesOf(request)
  const answer = await fetch(`${git}${rest}`, {
    method: request.method ?? "GET",
    headers: Object.fromEntries(headers),
    ...(request.method === "POST" ? { body: new Uint8Array(sent) } : {})
  })
  response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" })
  response.end(Buffer.from(await answer.arrayBuffer()))
}

const troubled = (trouble: ForgeTrouble, limitStatus: number): FakeAnswer | undefined => {
  switch (trouble.kind) {
    case "secondary limit":
      return {
        status: limitStatus,
        headers: { "retry-after": String(trouble.seconds) },
        body: { message: "You have exceeded a secondary rate limit." }
      }
    case "exhausted":
      return {
        status: limitStatus,
        headers: { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(trouble.resetsAt) },
        body: { message: "API rate limit exceeded" }
      }
    case "status":
      return { status: trouble.status, body: { message: "trouble" } }
    case "plain text":
      return { status: 200, body: undefined }
    default:
      return undefined
  }
}

/**
 * Serves a fake forge on loopback until the Scope closes, and returns its address. `limitStatus` is the status code for its
 * secondary limits.
 */
export const forgeServer = (
  state: ForgeState,
  prefix: string,
  limitStatus: number,
  answer: (request: FakeRequest) => FakeAnswer
) =>
  Effect.gen(function* () {
    const origin = yield* loopback((request, response) => {
      const url = new URL(request.url ?? "/", "http://fake.example")
      if (state.git !== undefined && url.pathname.includes(".git/")) {
        void passToGit(state.git, request, response).catch(() => response.destroy())
        return
      }
      state.calls.push(`${request.method} ${url.pathname}`)
      const trouble = state.troubles.shift()
      const send = ({ body, headers, status }: FakeAnswer) => {
        response.writeHead(status, { "content-type": "application/json", ...headers })
        response.end(body === undefined ? "<html>Hello</html>" : JSON.stringify(body))
      }
      bodyOf(request).then(
        (body) => {
          const { authorization: _, ...headers } = request.headers
          state.sent.push(JSON.stringify([request.method, request.url, headers, body]))
          const instead = trouble === undefined ? undefined : troubled(trouble, limitStatus)
          if (instead !== undefined) return send(instead)
          if (!url.pathname.startsWith(prefix)) return send(notFound)
          const done = answer({
            method: request.method ?? "",
            path: url.pathname.slice(prefix.length),
            query: url.searchParams,
            body,
            authorization: request.headers.authorization ?? ""
          })
          if (trouble?.kind === "lost answer") return response.destroy()
          if (trouble?.kind !== "huge") return send(done)
          response.writeHead(done.status)
          for (let sent = 0; sent < 17; sent++) response.write(mebibyteOfBlanks)
          return response.end(JSON.stringify(done.body))
        },
        () => response.destroy()
      )
    })
    return origin
  })
