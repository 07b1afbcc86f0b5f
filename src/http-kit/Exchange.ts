import { Context, Effect, type Redacted } from "effect"
import type { ApiError } from "../../schema/errors/ApiError.ts"
import type { RunFrames } from "../streams/RunFrames.ts"

/**
 * A group of requests that arrived together. Records whether the state that they read has been refreshed since their
 * arrival.
 */
export interface Turn {
  isRenewed: boolean
}

/**
 * Information about a request that only the listener has. A host that mounts the routes on its own server may omit it. In that
 * case the router assigns the request id, and live routes support only server-sent events.
 */
export interface ExchangeShape {
  readonly requestId: string
  readonly remoteAddress?: string | undefined
  /** The group of this request. Absent if the group is unknown; the request then refreshes the state itself. */
  readonly turn?: Turn | undefined
  /** Called when the whole body has arrived. From then on, the connection may be idle while the server works. */
  readonly bodyReceived: () => void
  /** Called when the session in the request's cookie has been extended, so that the response also renews the cookie. */
  readonly sessionRenewed?: ((secret: Redacted.Redacted) => void) | undefined
  /**
   * Called when a route outside the API has accepted a session. Receives the check that admitted the session, which the
   * request's transactions repeat.
   */
  readonly admittedBy?: ((check: Effect.Effect<void, ApiError>) => void) | undefined
  /** Upgrades the connection to a WebSocket that carries the frames. Returns false if the request does not ask for an upgrade. */
  readonly upgrade?: ((frames: RunFrames) => boolean) | undefined
}

export const Exchange = Context.Reference<ExchangeShape>("svc/src/http-kit/Exchange", {
  defaultValue: () => ({ requestId: "", bodyReceived: () => {} })
})

const alphabet = "abcdefghijklmnopqrstuvwxyz234567"

/** Creates a request id from `req_` and 80 random bits. Ids from clients are never used. */
export const makeRequestId = (random: { readonly nextDoubleUnsafe: () => number }): string => {
  let id = "req_"
  for (let at = 0; at < 16; at++) id += alphabet.charAt(Math.floor(random.nextDoubleUnsafe() * alphabet.length))
  return id
}

/** Makes the response renew the session cookie, because this request extended the session. */
export const noteRenewal = (
  { sessionRenewed }: ExchangeShape,
  presented: { readonly ambient: boolean; readonly secret: Redacted.Redacted },
  principal: { readonly renewed?: boolean | undefined }
): void => {
  if (presented.ambient && principal.renewed === true) sessionRenewed?.(presented.secret)
}

/** Like `noteRenewal`, for the current request. */
export const followRenewal = (
  presented: { readonly ambient: boolean; readonly secret: Redacted.Redacted },
  principal: { readonly renewed?: boolean | undefined }
): Effect.Effect<void> => Effect.map(Exchange, (exchange) => noteRenewal(exchange, presented, principal))

/** Returns the id of the current request. */
export const currentRequestId: Effect.Effect<string> = Effect.map(Exchange, ({ requestId }) => requestId)
