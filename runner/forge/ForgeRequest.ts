import { Clock, Effect, Redacted, Result, Schema } from "effect"
import type { IncomingHttpHeaders, IncomingMessage } from "node:http"
import { formatServerAddress, isAddress, readServerAddress } from "../../schema/git/ServerAddress.ts"
import { originProblem } from "../git/FetchPolicy.ts"
import { pinnedAddresses } from "../git/GitEndpoint.ts"
import { GitPolicy } from "../git/GitPolicy.ts"
import { pinnedRequest } from "../git/PinnedRequest.ts"
import { outsideTransaction } from "../thread/OutsideTransaction.ts"
import { type Forge, type ForgeAccess, ForgeFailure } from "./Forge.ts"

/** Maximum size of a response. Large enough for a page of 30 long comments. */
const maxAnswerBytes = 16 * 1024 * 1024
const longestMillis = 20_000
/** Maximum number of pages that svc reads per list. */
export const mostPages = 40
/** Default wait if a forge limits requests without giving a retry time. */
const defaultRetryAfter = 60
const longestRetryAfter = 3600

/** The address of a forge's API, and the header with svc's credential. */
export interface ForgeApi {
  readonly base: URL
  /** Absent for the only request that GitHub accepts without a credential. */
  readonly authorization?: Redacted.Redacted
}

export interface ForgeCall {
  readonly method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE"
  /** Path and query, relative to the API's address. */
  readonly path: string
  readonly body?: Schema.Json
  /** Matches the message of a 400 response that means that the request has already been fulfilled. */
  readonly doneIf?: RegExp
}

export interface ForgeAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** The repository has a new path. `path` is relative to the API's address. */
export class ForgeMoved extends Schema.TaggedError<ForgeMoved>()("ForgeMoved", { path: Schema.String }) {}

export type AskedOnce<A> = Effect.Effect<A, ForgeFailure | ForgeMoved, GitPolicy>

const acceptOf = { github: "application/vnd.github+json", gitlab: "application/json", forgejo: "application/json" }

const apiPath = { github: "/api/v3", gitlab: "/api/v4", forgejo: "/api/v1" } as const

/**
 * Returns the address of a forge's API. GitHub's own sites use a separate host for the API. Returns `undefined` if the
 * address is not a plain web address.
 */
export const apiAddress = ({ address, kind }: Pick<ForgeAccess, "address" | "kind">): URL | undefined => {
  const read = readServerAddress(address.replace(/\/$/, ""))
  if (!isAddress(read) || read.scheme === "ssh") return undefined
  if (kind === "github" && (read.hostname === "github.com" || read.hostname.endsWith(".ghe.com"))) {
    return new URL(`https://api.${read.hostname}`)
  }
  return new URL(`${formatServerAddress(read)}${apiPath[kind]}`)
}

export const failure = (reason: ForgeFailure["reason"], message: string, retryAfter?: number) =>
  new ForgeFailure({ reason, message, ...(retryAfter === undefined ? {} : { retryAfter }) })

class AnswerTooLong extends Error {
  override readonly name = "AnswerTooLong"
}

const bodyOf = async (response: IncomingMessage): Promise<string> => {
  const parts: Array<Uint8Array> = []
  let received = 0
  try {
    for await (const chunk of response) {
      received += chunk.length
      if (received > maxAnswerBytes) throw new AnswerTooLong()
      parts.push(chunk)
    }
    if (!response.complete) throw new Error("the answer ended too early")
  } finally {
    response.destroy()
  }
  return Buffer.concat(parts).toString("utf8")
}

/** Errors after which svc may try the host's next address, because the request was never sent. */
const neverConnected: ReadonlySet<string> = new Set(["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL"])

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : ""

const attempt = (kind: ForgeAccess["kind"], { authorization }: ForgeApi, call: ForgeCall, url: URL, address: string) =>
  Effect.tryPromise({
    try: async (signal): Promise<ForgeAnswer> => {
      const sent = call.body === undefined ? undefined : Buffer.from(JSON.stringify(call.body))
      const response = await pinnedRequest(
        {
          url,
          method: call.method,
          headers: {
            ...(authorization === undefined ? {} : { authorization: Redacted.value(authorization) }),
            accept: acceptOf[kind],
            "accept-encoding": "identity",
            "user-agent": "svc",
            ...(kind === "github" ? { "x-github-api-version": "2022-11-28" } : {}),
            ...(sent === undefined ? {} : { "content-type": "application/json", "content-length": String(sent.length) })
          },
          body: sent,
          signal
        },
        address
      )
      return { status: response.statusCode ?? 0, headers: response.headers, text: await bodyOf(response) }
    },
    catch: (error) => ({ code: codeOf(error), tooLong: error instanceof AnswerTooLong })
  })

const numberIn = (headers: IncomingHttpHeaders, name: string): number | undefined => {
  const value = headers[name]
  return typeof value === "string" && /^\d{1,12}$/.test(value.trim()) ? Number(value) : undefined
}

const Refusal = Schema.fromJsonString(Schema.Struct({ message: Schema.optionalKey(Schema.Unknown) }))
const readRefusal = Schema.decodeUnknownResult(Refusal)

const messageIn = ({ text }: ForgeAnswer): string => {
  const read = readRefusal(text)
  return Result.isSuccess(read) ? JSON.stringify(read.success.message ?? "") : ""
}

/**
 * Returns the number of seconds for which the forge refuses requests, or `undefined` if the response does not indicate such
 * a limit. GitHub reports its secondary limits with status 403.
 */
const waitIn = (answer: ForgeAnswer, now: number): number | undefined => {
  const { headers, status } = answer
  const exhausted = numberIn(headers, "x-ratelimit-remaining") === 0
  const after = numberIn(headers, "retry-after")
  const isLimit =
    status === 429 || (status === 403 && (exhausted || after !== undefined || /rate limit/i.test(messageIn(answer))))
  if (!isLimit) return undefined
  const reset = numberIn(headers, "x-ratelimit-reset") ?? numberIn(headers, "ratelimit-reset")
  const seconds = after ?? (reset === undefined ? defaultRetryAfter : reset - Math.floor(now / 1000))
  return Math.min(longestRetryAfter, Math.max(1, seconds))
}

/** Permissions as GitHub calls them, such as `pull_requests=write`. */
const permissionList = /^[a-z_]{1,40}=(?:read|write|admin)(?:[;,] ?[a-z_]{1,40}=(?:read|write|admin)){0,9}$/

const forbidden = (host: string, { headers }: ForgeAnswer) => {
  const accepted = headers["x-accepted-github-permissions"]
  const needed = typeof accepted === "string" && permissionList.test(accepted) ? ` It needs ${accepted}.` : ""
  return failure("forbidden", `${host} does not permit this to the credential.${needed}`)
}

/** Returns the repository's path in a redirect, relative to the API's address. */
const movedTo = (base: URL, url: URL, { headers }: ForgeAnswer): string | undefined => {
  const target = headers.location === undefined ? null : URL.parse(headers.location, url)
  const prefix = base.pathname === "/" ? "" : base.pathname
  if (target === null || target.origin !== base.origin || !target.pathname.startsWith(`${prefix}/`)) return undefined
  const path = target.pathname.slice(prefix.length)
  return /^(\/(?:repositories\/\d+|projects\/\d+|repos\/[\w.-]+\/[\w.-]+))(?:\/|$)/.exec(path)?.[1]
}

const refused = Effect.fnUntraced(function* (api: ForgeApi, url: URL, answer: ForgeAnswer) {
  const { host } = url
  const wait = waitIn(answer, yield* Clock.currentTimeMillis)
  if (wait !== undefined) return yield* failure("limited", `${host} accepts no requests for ${wait} seconds.`, wait)
  const { status } = answer
  if (status >= 300 && status < 400) {
    const path = movedTo(api.base, url, answer)
    return yield* path === undefined
      ? failure("missing", `${host} redirects the request elsewhere.`)
      : new ForgeMoved({ path })
  }
  switch (status) {
    case 401:
      return yield* failure("unauthorized", `${host} does not accept the credential.`)
    case 403:
      return yield* forbidden(host, answer)
    case 404:
    case 410:
      return yield* failure("missing", `${host} has no such resource, or hides it from the credential.`)
    default:
      return yield* status >= 500
        ? failure("unavailable", `${host} answered with status ${status}.`)
        : failure("rejected", `${host} rejected the request with status ${status}.`)
  }
})

/** Sends one request to a forge's API. Follows no redirects. Fails for every status except success. */
export const askForge = Effect.fn("Forge.ask")(
  function* (
    kind: ForgeAccess["kind"],
    api: ForgeApi,
    call: ForgeCall
  ): Effect.fn.Return<ForgeAnswer, ForgeFailure | ForgeMoved, GitPolicy> {
    const url = new URL(`${api.base.pathname === "/" ? "" : api.base.pathname}${call.path}`, api.base)
    const read = readServerAddress(url.origin)
    const problem = isAddress(read) ? originProblem(read, yield* GitPolicy) : "cannot be read."
    if (problem !== undefined) return yield* failure("refused", `The address of the forge's API ${problem}`)
    const addresses = yield* pinnedAddresses(url, "of the forge", "SVC_GIT_ALLOW_ORIGINS").pipe(
      Effect.mapError(({ _tag, message }) => failure(_tag === "GitAddressRefused" ? "refused" : "unavailable", message))
    )
    for (const address of addresses) {
      const answered = yield* Effect.result(attempt(kind, api, call, url, address))
      if (Result.isSuccess(answered)) {
        const { status } = answered.success
        if (status === 400 && call.doneIf?.test(messageIn(answered.success)) === true) return answered.success
        return status >= 200 && status < 300 ? answered.success : yield* refused(api, url, answered.success)
      }
      const { code, tooLong } = answered.failure
      if (tooLong) return yield* failure("unreadable", `The answer of ${url.host} is too large.`)
      if (!neverConnected.has(code)) break
    }
    return yield* failure("unavailable", `${url.host} did not answer.`)
  },
  (effect, _kind, { base }) =>
    effect.pipe(
      Effect.timeoutOrElse({
        duration: longestMillis,
        orElse: () => failure("unavailable", `${base.host} did not answer in time.`)
      }),
      outsideTransaction("A forge is asked")
    )
)

/** Parses the body of a response. Ignores fields that are not in the schema. */
export const answered =
  <A>(schema: Schema.Codec<A, unknown>, host: string) =>
  ({ text }: ForgeAnswer): Effect.Effect<A, ForgeFailure> =>
    Schema.decodeUnknownEffect(Schema.fromJsonString(schema))(text).pipe(
      Effect.mapError(() => failure("unreadable", `The answer of ${host} has an unexpected form.`))
    )

/** Returns the number at the end of an address such as `https://git.example.com/team/network/pulls/7`. */
export const numberAtEnd = (address: string): number | undefined => {
  const [, number] = /\/(\d{1,9})$/.exec(address) ?? []
  return number === undefined ? undefined : Number(number)
}

/** A list that was read page by page. `complete` is false if more pages exist than svc reads. */
export interface ReadPages<A> {
  readonly items: ReadonlyArray<A>
  readonly complete: boolean
}

/** Reads the pages of a list until it reads a page that is not full, or has read `enough` items. */
export const readPages = Effect.fnUntraced(function* <A, E, R>(
  size: number,
  page: (number: number) => Effect.Effect<ReadonlyArray<A>, E, R>,
  enough: (items: ReadonlyArray<A>) => boolean = () => false
): Effect.fn.Return<ReadPages<A>, E, R> {
  const items: Array<A> = []
  for (let number = 1; number <= mostPages; number += 1) {
    const read = yield* page(number)
    items.push(...read)
    if (read.length < size || enough(items)) return { items, complete: true }
  }
  return { items, complete: false }
})

type Service = Forge["Service"]

/** The methods of the client for one kind of forge. Callers pass the repository's last known path. */
export type ForgeCalls = {
  readonly [Name in keyof Service]: (
    ...given: Parameters<Service[Name]>
  ) => AskedOnce<Effect.Success<ReturnType<Service[Name]>>>
}
