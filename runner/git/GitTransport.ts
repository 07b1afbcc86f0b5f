import { Duration, Redacted, Result } from "effect"
import type { GitHttpRequest, GitHttpResponse, HttpClient } from "isomorphic-git"
import type { IncomingHttpHeaders, IncomingMessage } from "node:http"
import type { GitCredentials } from "./GitCredentials.ts"
import type { GitEndpoint } from "./GitEndpoint.ts"
import {
  GitAuthenticationFailed,
  type GitError,
  GitLimitExceeded,
  GitProtocolBroken,
  GitRedirectRefused,
  GitRepositoryNotFound,
  GitTimedOut,
  GitUnreachable,
  isGitError
} from "./GitError.ts"
import { pinnedRequest } from "./PinnedRequest.ts"
import { answerSample } from "./SampleRepository.ts"

export interface TransportOptions {
  /** Credentials, which are sent only to their own origins. Requests to other origins are refused. */
  readonly credentials?: GitCredentials | undefined
  /** Maximum total size of all responses in bytes, and the name of that limit. */
  readonly maximum: { readonly limit: "packBytes" | "responseBytes"; readonly bytes: number }
  /** Maximum time without data from the server. */
  readonly idle: Duration.Duration
  readonly signal: AbortSignal
}

/**
 * HTTP client for one repository. Connects only to the repository's checked addresses, never through a redirect or proxy,
 * and limits bytes and idle time. It is an `HttpClient` for isomorphic-git. isomorphic-git loses errors that occur while it
 * reads a body, so `failure` also returns those errors.
 */
export interface GitTransport extends HttpClient {
  readonly failure: () => GitError | undefined
  /** Address from which the first response came; `undefined` until then. */
  readonly connectedAddress: () => string | undefined
}

const describeRedirect = (location: string | undefined, base: string) => {
  if (location === undefined || !URL.canParse(location, base)) return ""
  const { origin, pathname } = new URL(location, base)
  return ` It points to ${origin}${pathname.replace(/\/info\/refs$/, "")}: use that as the Git URL if you trust it.`
}

const statusFailure = (
  status: number,
  { location, "retry-after": retryAfter }: IncomingHttpHeaders,
  options: TransportOptions,
  url: string
) => {
  if (status >= 300 && status < 400)
    return new GitRedirectRefused({
      message: `The Git server answered with a redirect, which is never followed.${describeRedirect(location, url)}`
    })
  if (status === 401 || status === 403 || status === 203)
    return new GitAuthenticationFailed({
      message:
        options.credentials === undefined
          ? "The Git server requires credentials. Choose a Connection for this Source, or check that the repository exists and is public."
          : "The Git server refused the credentials. Check that they are valid and may read this repository."
    })
  if (status === 404 || status === 410)
    return new GitRepositoryNotFound({
      message: "The Git server has no repository at this URL, or hides it without credentials."
    })
  const wait = asksToWait(status) ? secondsToWait(retryAfter) : undefined
  const when = wait === undefined ? "Try again later." : `It asks to wait ${wait} seconds before the next attempt.`
  const reason = status === 429 ? " (too many requests)" : status === 503 ? " (temporarily unavailable)" : ""
  return new GitUnreachable({ message: `The Git server answered with status ${status}${reason}. ${when}` })
}

/** Maximum delay that a server may request. */
const longestWait = 30

/** Parses `Retry-After`, which is a number of seconds or a date. Returns `undefined` if it is neither. */
const secondsToWait = (value: string | undefined): number | undefined => {
  if (value === undefined) return undefined
  if (/^\d{1,9}$/.test(value.trim())) return Number(value)
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - Date.now()) / 1000))
}

const asksToWait = (status: number) => status === 429 || status === 503

const pause = (seconds: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(done, seconds * 1000)
    function done() {
      clearTimeout(timer)
      signal.removeEventListener("abort", done)
      resolve()
    }
    if (signal.aborted) done()
    else signal.addEventListener("abort", done)
  })

/** Ignore parameters and case when comparing media types, as Git does. */
const mediaTypeOf = (contentType: string | undefined) =>
  (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? ""

async function* once(body: Uint8Array) {
  yield body
}

const collectBody = async (body: GitHttpRequest["body"]): Promise<Buffer | undefined> => {
  if (body === undefined) return undefined
  const parts: Array<Uint8Array> = []
  for await (const part of body) parts.push(part)
  return Buffer.concat(parts)
}

const isCertificateFailure = (error: unknown): boolean =>
  error instanceof Error && "code" in error && /CERT|SIGNED|ALTNAME|UNABLE_TO/.test(String(error.code))

/** Answers requests to the sample repository in this process, without a connection or credentials. */
const builtInTransport = (endpoint: GitEndpoint): GitTransport => {
  let failure: GitError | undefined
  const request = async (input: GitHttpRequest): Promise<GitHttpResponse> => {
    const { method = "GET", url } = input
    const target = url.startsWith(`${endpoint.url}/`) ? url.slice(endpoint.url.length + 1) : ""
    const isV2 = input.headers?.["git-protocol"] === "version=2" || input.headers?.["Git-Protocol"] === "version=2"
    const body = (await collectBody(input.body)) ?? new Uint8Array()
    const answer = await answerSample({ method, target, isV2, body })
    if (answer.status !== 200) {
      failure ??= new GitProtocolBroken({ message: Buffer.from(answer.body).toString("utf8").trim() })
      throw failure
    }
    return {
      url,
      method,
      statusCode: answer.status,
      statusMessage: "OK",
      headers: { "content-type": answer.contentType },
      body: once(answer.body)
    }
  }
  return { request, failure: () => failure, connectedAddress: () => undefined }
}

export const makeGitTransport = (endpoint: GitEndpoint, options: TransportOptions): GitTransport => {
  if (endpoint.builtIn === true) return builtInTransport(endpoint)
  const { hostname } = new URL(endpoint.url)
  let failure: GitError | undefined
  let connected: string | undefined
  let received = 0
  let waited = false

  const fail = (error: GitError): never => {
    failure ??= error
    throw error
  }

  /** Creates a timer that aborts the request if the server is silent for too long. `refresh` resets the timer. */
  const watch = () => {
    const silence = new AbortController()
    const timer = setTimeout(() => silence.abort(), Duration.toMillis(options.idle))
    return { signal: AbortSignal.any([silence.signal, options.signal]), silence: silence.signal, timer }
  }

  const broken = (watched: ReturnType<typeof watch>, error: unknown): GitError => {
    if (isGitError(error)) return error
    if (options.signal.aborted) return new GitTimedOut({ message: "The Git operation took too long and was stopped." })
    if (watched.silence.aborted) return new GitTimedOut({ message: `The Git server at ${hostname} stopped answering.` })
    const reason = isCertificateFailure(error)
      ? "its certificate could not be verified. Check the host name, or make its authority known to this machine."
      : "it does not answer. Check the URL and the server."
    return new GitUnreachable({ message: `The connection to the Git server at ${hostname} failed: ${reason}` })
  }

  const bodyOf = async function* (response: IncomingMessage, watched: ReturnType<typeof watch>) {
    try {
      for await (const chunk of response) {
        watched.timer.refresh()
        received += chunk.length
        if (received > options.maximum.bytes)
          fail(
            new GitLimitExceeded({
              limit: options.maximum.limit,
              maximum: options.maximum.bytes,
              message: `The Git server sent more than the ${options.maximum.bytes} bytes this service accepts.`
            })
          )
        yield new Uint8Array(chunk)
      }
      if (!response.complete) fail(new GitProtocolBroken({ message: "The Git server ended its answer too early." }))
    } catch (error) {
      fail(broken(watched, error))
    } finally {
      clearTimeout(watched.timer)
      response.destroy()
    }
  }

  const request = async (input: GitHttpRequest): Promise<GitHttpResponse> => {
    // The address is pinned to the host name, so refuse requests to any other repository.
    if (!input.url.startsWith(`${endpoint.url}/`))
      return fail(new GitProtocolBroken({ message: "The Git operation strayed from the repository's URL." }))
    const authorization = options.credentials?.authorizationFor(input.url)
    if (authorization !== undefined && Result.isFailure(authorization)) return fail(authorization.failure)
    const watched = watch()
    const body = await collectBody(input.body)
    const headers: Record<string, string> = {
      ...input.headers,
      "accept-encoding": "identity",
      "user-agent": "git/svc",
      ...(authorization === undefined ? {} : { authorization: Redacted.value(authorization.success) }),
      ...(body === undefined ? {} : { "content-length": String(body.length) })
    }
    const outgoing = { url: new URL(input.url), method: input.method ?? "GET", headers, body, signal: watched.signal }
    const addresses = connected === undefined ? endpoint.addresses : [connected]
    let response: IncomingMessage | undefined
    let refused: unknown
    for (const address of addresses) {
      if (watched.signal.aborted) break
      response = await pinnedRequest(outgoing, address).catch((error: unknown) => {
        refused = error
        return undefined
      })
      if (response !== undefined) {
        connected ??= address
        break
      }
    }
    if (response === undefined) {
      clearTimeout(watched.timer)
      return fail(broken(watched, refused))
    }
    const status = response.statusCode ?? 0
    const wait = waited || !asksToWait(status) ? undefined : secondsToWait(response.headers["retry-after"])
    if (wait !== undefined && wait <= longestWait) {
      // Repeat a request at most once.
      waited = true
      clearTimeout(watched.timer)
      response.destroy()
      await pause(wait, options.signal)
      return request(body === undefined ? input : { ...input, body: once(body) })
    }
    const refusal =
      status !== 200
        ? statusFailure(status, response.headers, options, input.url)
        : (response.headers["content-encoding"] ?? "identity") !== "identity"
          ? new GitProtocolBroken({
              message: "The Git server compressed its response although svc requested no compression."
            })
          : undefined
    if (refusal !== undefined) {
      clearTimeout(watched.timer)
      response.destroy()
      return fail(refusal)
    }
    return {
      url: input.url,
      method: outgoing.method,
      statusCode: status,
      statusMessage: response.statusMessage ?? "",
      headers: { "content-type": mediaTypeOf(response.headers["content-type"]) },
      body: bodyOf(response, watched)
    }
  }

  return { request, failure: () => failure, connectedAddress: () => connected }
}
