import { Clock, Context, Effect, Result } from "effect"
import type { IncomingHttpHeaders } from "node:http"
import { isAddress, readServerAddress } from "../../schema/git/ServerAddress.ts"
import type { NoticeOutcome } from "../../schema/records/NoticeEndpoint.ts"
import { originProblem } from "../git/FetchPolicy.ts"
import { pinnedAddresses } from "../git/GitEndpoint.ts"
import { defaultGitPolicy, GitPolicy } from "../git/GitPolicy.ts"
import { pinnedRequest } from "../git/PinnedRequest.ts"
import { outsideTransaction } from "../thread/OutsideTransaction.ts"

export interface NoticePostRequest {
  readonly address: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Exact origins that may use plain http and may resolve to private addresses. */
  readonly allowOrigins: ReadonlyArray<string>
}

/** What became of one attempt. Nothing of the response's body is kept. */
export interface NoticePostResult {
  readonly outcome: NoticeOutcome
  readonly status?: number
  /** Seconds that the receiver asked to wait before the next attempt. */
  readonly retryAfter?: number
}

/** The time until the head of the response, name resolution and connection included. */
const longestMillis = 15_000

const retryAfterOf = (headers: IncomingHttpHeaders, now: number): number | undefined => {
  const value = headers["retry-after"]?.trim()
  if (value === undefined) return undefined
  if (/^\d{1,9}$/.test(value)) return Number(value)
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now) / 1000))
}

const outcomeOf = (status: number): NoticeOutcome => {
  if (status >= 200 && status < 300) return "accepted"
  if (status >= 300 && status < 400) return "redirected"
  return status === 410 ? "gone" : "refused"
}

/** The codes of Node and OpenSSL for certificates that do not prove the host, and for servers that do not speak TLS. */
const tlsCode = /CERT|SIGNED|ALTNAME|UNABLE_TO|ERR_TLS|ERR_SSL|EPROTO/

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : ""

/** Errors after which the next address of the host may be tried, because the request was never sent. */
const neverConnected: ReadonlySet<string> = new Set(["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL"])

const attempt = (url: URL, address: string, { body, headers }: NoticePostRequest) =>
  Effect.tryPromise({
    try: async (signal) => {
      const sent = Buffer.from(body)
      const all = {
        ...headers,
        "content-type": "application/json",
        "content-length": String(sent.length),
        "user-agent": "svc-notices",
        connection: "close"
      }
      const response = await pinnedRequest(
        { url, method: "POST", headers: all, body: sent, signal, agent: false },
        address
      )
      response.destroy()
      return { status: response.statusCode ?? 0, headers: response.headers }
    },
    catch: codeOf
  })

const post = Effect.fnUntraced(function* (request: NoticePostRequest) {
  const url = URL.parse(request.address)
  const read = readServerAddress(url?.origin ?? "")
  if (url === null || !isAddress(read) || originProblem(read, request) !== undefined) {
    return { outcome: "address_refused" } as const
  }
  const addresses = yield* Effect.result(
    Effect.provideService(pinnedAddresses(url, "of the notice endpoint"), GitPolicy, {
      ...defaultGitPolicy,
      allowOrigins: request.allowOrigins
    })
  )
  if (Result.isFailure(addresses)) {
    const outcome = addresses.failure._tag === "GitAddressRefused" ? "address_refused" : "unreachable"
    return { outcome } as const
  }
  let code = ""
  for (const address of addresses.success) {
    const answered = yield* Effect.result(attempt(url, address, request))
    if (Result.isSuccess(answered)) {
      const { headers, status } = answered.success
      const outcome = outcomeOf(status)
      const retryAfter = outcome === "accepted" ? undefined : retryAfterOf(headers, yield* Clock.currentTimeMillis)
      return { outcome, status, ...(retryAfter === undefined ? {} : { retryAfter }) }
    }
    code = answered.failure
    if (!neverConnected.has(code)) break
  }
  return { outcome: tlsCode.test(code) ? "tls" : "unreachable" } as const
})

export interface NoticePostShape {
  /**
   * Sends one notice under the policy of Git addresses: https on an ordinary port and public addresses, or an origin that the
   * operator allows by name. The name is resolved once, and redirects are not followed. Never fails.
   */
  readonly send: (request: NoticePostRequest) => Effect.Effect<NoticePostResult>
}

/** The implementation of requests; a test may replace it. */
export const NoticePost = Context.Reference<NoticePostShape>("svc/runner/probe/NoticePost", {
  defaultValue: () => ({
    send: (request) =>
      post(request).pipe(
        Effect.timeoutOrElse({
          duration: longestMillis,
          orElse: () => Effect.succeed<NoticePostResult>({ outcome: "timed_out" })
        }),
        outsideTransaction("A notice is sent")
      )
  })
})
