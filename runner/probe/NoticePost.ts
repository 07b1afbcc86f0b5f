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
  /** Exact origins that may use plain HTTP and resolve to private addresses. */
  readonly allowOrigins: ReadonlyArray<string>
}

/** Result of one attempt. The body of the response is discarded. */
export interface NoticePostResult {
  readonly outcome: NoticeOutcome
  readonly status?: number
  /** Seconds that the receiver requested before the next attempt. */
  readonly retryAfter?: number
}

/** Maximum time until the head of the response, including name resolution and connection. */
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

/** Matches the codes of Node and OpenSSL for certificates that are invalid for the host, and for servers without TLS. */
const tlsCode = /CERT|SIGNED|ALTNAME|UNABLE_TO|ERR_TLS|ERR_SSL|EPROTO/

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : ""

/** Errors after which svc may try the host's next address, because the request was never sent. */
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
   * Sends one notice under the policy for Git addresses: HTTPS on an ordinary port and a public address, or an origin that
   * the operator explicitly allows. Resolves the name once and does not follow redirects. Never fails.
   */
  readonly send: (request: NoticePostRequest) => Effect.Effect<NoticePostResult>
}

/** The service that sends the requests. Tests can replace it. */
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
