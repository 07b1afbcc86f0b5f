import { request } from "./Client.ts"
import type { Answer, Bare, Input, Line } from "./Declarations.ts"
import { addressOf, type Filling } from "./Url.ts"

interface CallOptions {
  readonly signal?: AbortSignal
}

/** A request that changes data must be given the signal of the decision that sends it (see `Decision.ts`). */
type CallOptionsOf<L extends Line> = L extends `GET ${string}` ? CallOptions : Required<CallOptions>

interface Sent extends CallOptions, Filling {
  readonly body?: unknown
  readonly idempotencyKey?: string
}

// The overloads define the valid inputs. The implementation's signature cannot express them for all routes at once.
const isSent = (input: unknown): input is Sent => typeof input === "object" && input !== null

/** Calls a route of the API. The API declares the types of its input and response. Rejects with a `Fault`. */
export function call<L extends Bare & `GET ${string}`>(line: L): Promise<Answer<L>>
export function call<L extends Line>(line: L, input: Input<L> & CallOptionsOf<L>): Promise<Answer<L>>
export function call(line: Line, input: unknown = {}): Promise<unknown> {
  const { params, query, body, ...options } = isSent(input) ? input : {}
  const method = line.slice(0, line.indexOf(" "))
  // A POST request without a declared body still sends an empty body.
  const sent = body === undefined && method === "POST" ? {} : body
  return request(method, addressOf(line, { params, query }), sent === undefined ? options : { ...options, body: sent })
}

interface Coordinated {
  readonly id: string
  readonly nextAction: "reconcile" | "review_run" | "plan_again" | "none"
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const longestPauseMs = 2000

/**
 * Advances a coordinator until it has a Run to review or has failed. Each step is one request. Because the server also
 * advances the coordinator, a pending step is only polled, at increasing intervals.
 */
export const advance = async <A extends Coordinated>(
  record: A,
  reconcile: (id: string) => Promise<A>,
  onStep: (record: A) => void = () => undefined,
  pause: (ms: number) => Promise<void> = wait
): Promise<A> => {
  let current = record
  onStep(current)
  for (let attempt = 0; current.nextAction === "reconcile"; attempt += 1) {
    await pause(Math.min(longestPauseMs, 150 * 1.3 ** attempt))
    current = await reconcile(current.id)
    onStep(current)
  }
  return current
}
