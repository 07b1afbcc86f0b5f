import { confirmIdentity } from "./Confirmation.ts"
import { takeEarly } from "./EarlyRequests.ts"
import { Fault, faultFrom } from "./Fault.ts"
import { isReachable, probe, reportAnswer } from "./Reachability.ts"
import { apiUrl } from "./Url.ts"

type Query = Readonly<Record<string, string | number | boolean | undefined>>

export interface RequestOptions {
  readonly query?: Query
  readonly body?: unknown
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal
  /** True on the sign-in page, where a 401 response must not redirect to that page again. */
  readonly keepOn401?: boolean
}

/** The address of the sign-in page that leads back to this page, with its query and fragment. */
export const signInUrl = (location: {
  readonly pathname: string
  readonly search: string
  readonly hash: string
}): string => `/sign-in?return=${encodeURIComponent(`${location.pathname}${location.search}${location.hash}`)}`

/**
 * Returns the path to open after a sign-in. Returns `/` for anything that is not a path on this origin, such as another host
 * or a script.
 */
export const returnPath = (candidate: string | null, origin: string): string => {
  if (candidate === null || !candidate.startsWith("/")) return "/"
  const url = URL.canParse(candidate, origin) ? new URL(candidate, origin) : undefined
  if (url === undefined || url.origin !== origin || url.pathname === "/sign-in") return "/"
  // "/.//evil.example" resolves to a path on this origin that a browser would mistake for another host.
  if (url.pathname.startsWith("//")) return "/"
  return `${url.pathname}${url.search}${url.hash}`
}

export const newIdempotencyKey = (): string => crypto.randomUUID()

const decode = (text: string): unknown => {
  if (text === "") return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const send = (method: string, path: string, options: RequestOptions): Promise<Response> => {
  const url = apiUrl(path, options.query)
  const headers = new Headers({ accept: "application/json" })
  const { body } = options
  // If the body is a file, sends it unchanged.
  const sent = body instanceof Uint8Array ? new Uint8Array(body) : body === undefined ? undefined : JSON.stringify(body)
  if (sent !== undefined)
    headers.set("content-type", typeof sent === "string" ? "application/json" : "application/octet-stream")
  if (options.idempotencyKey !== undefined) headers.set("idempotency-key", options.idempotencyKey)
  const ask = () =>
    fetch(url, {
      method,
      headers,
      credentials: "same-origin",
      ...(sent === undefined ? {} : { body: sent }),
      ...(options.signal === undefined ? {} : { signal: options.signal })
    })
  return (method === "GET" ? takeEarly(url)?.catch(ask) : undefined) ?? ask()
}

const isAbort = (error: unknown): boolean => error instanceof DOMException && error.name === "AbortError"

/** Returns true if the server requires a confirmed identity for a sensitive action. */
const wantsConfirmation = (fault: Fault): boolean => fault.code === "reauthentication_required"

/**
 * Redirects to the sign-in page. The promise rejects only after that page has loaded, so that the current page shows no
 * error. If the browser restores the current page from its page cache, the promise rejects at that point.
 */
const leaveForSignIn = (fault: Fault): Promise<never> =>
  new Promise((_, reject) => {
    window.addEventListener("pageshow", ({ persisted }) => {
      if (persisted) reject(fault)
    })
    window.location.assign(signInUrl(window.location))
  })

const unread = (): Fault => new Fault({ status: 0, code: "network", message: "The server could not be reached." })

/** Even if there is no response, the request may have arrived. */
const unanswered = (): Fault =>
  new Fault({ status: 0, code: "unanswered", message: "No answer arrived. The server may have received the request." })

/**
 * A change is sent or refused immediately, and never sent while the server is unreachable. `navigator.onLine` alone does not
 * show whether the server can be reached, because a server on this machine needs no network.
 */
const refuseUnreachable = async (): Promise<void> => {
  const offline = !navigator.onLine
  if (isReachable() ? !offline || (await probe()) : false) return
  void probe()
  throw new Fault({
    status: 0,
    code: offline ? "offline" : "unreachable",
    message: offline ? "You are offline. Nothing was sent." : "The server cannot be reached. Nothing was sent."
  })
}

/**
 * Sends one request to this origin. A sensitive request is sent again after the person has confirmed their identity. Rejects
 * with a {@link Fault}. The OpenAPI document guarantees the shape of `A`.
 */
export const request = async <A>(method: string, path: string, options: RequestOptions = {}): Promise<A> => {
  const changes = method !== "GET"
  if (changes) await refuseUnreachable()
  options.signal?.throwIfAborted()
  const lost = (error: unknown): never => {
    if (isAbort(error)) throw error
    void probe()
    throw changes ? unanswered() : unread()
  }
  const response = await send(method, path, options).catch(lost)
  reportAnswer()
  const text = await response.text().catch(lost)
  // This is the only place where unchecked JSON is given a type. The cast is safe, because the response has the same origin,
  // build and OpenAPI document.
  const body: ReturnType<typeof JSON.parse> = decode(text)
  if (response.ok) return body
  const fault = faultFrom(response.status, body, response.headers.get("x-request-id"))
  if (response.status === 401 && options.keepOn401 !== true) return leaveForSignIn(fault)
  if (wantsConfirmation(fault) && (await confirmIdentity())) return request<A>(method, path, options)
  throw fault
}

export const get = <A>(path: string, query?: Query, signal?: AbortSignal): Promise<A> =>
  request<A>("GET", path, {
    ...(query === undefined ? {} : { query }),
    ...(signal === undefined ? {} : { signal })
  })

interface PostOptions extends Omit<RequestOptions, "body"> {
  /** Aborts the change if the person withdraws it. */
  readonly signal: AbortSignal
}

export const post = <A>(path: string, body: unknown, options: PostOptions): Promise<A> =>
  request<A>("POST", path, { ...options, body })
