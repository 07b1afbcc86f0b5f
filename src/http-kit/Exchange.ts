import { Context, Effect, type Redacted } from "effect"
import type { ApiError } from "../../schema/errors/ApiError.ts"
import type { RunFrames } from "../streams/RunFrames.ts"

/** The requests that arrived together, and whether the state they read has been renewed since. */
export interface Turn {
  isRenewed: boolean
}

/**
 * The listener's information about a request besides its bytes. A host that mounts the routes on its own server may omit it: the
 * router then assigns the request id, and live routes support only server-sent events.
 */
export interface ExchangeShape {
  readonly requestId: string
  readonly remoteAddress?: string | undefined
  /** Absent when it is not known which requests arrived together: the request then renews the state for itself. */
  readonly turn?: Turn | undefined
  /** Called once the whole body has arrived. After that, the connection may be idle while the server works. */
  readonly bodyReceived: () => void
  /** Called when the session in the request's cookie has been extended, so that the response renews the cookie as well. */
  readonly sessionRenewed?: ((secret: Redacted.Redacted) => void) | undefined
  /** Called with the check of a session that a route outside the API has accepted: transactions of the request repeat it. */
  readonly admittedBy?: ((check: Effect.Effect<void, ApiError>) => void) | undefined
  /** Upgrades the connection to a WebSocket that carries the frames; false when the request is not an upgrade. */
  readonly upgrade?: ((frames: RunFrames) => boolean) | undefined
}

export const Exchange = Context.Reference<ExchangeShape>("svc/src/http-kit/Exchange", {
  defaultValue: () => ({ requestId: "", bodyReceived: () => {} })
})

const alphabet = "abcdefghijklmnopqrstuvwxyz234567"

/** A new request id: `req_` and 80 random bits. Ids sent by clients are ignored. */
export const makeRequestId = (random: { readonly nextDoubleUnsafe: () => number }): string => {
  let id = "req_"
  for (let at = 0; at < 16; at++) id += alphabet.charAt(Math.floor(random.nextDoubleUnsafe() * alphabet.length))
  return id
}

/** Renews the session cookie in the response to this request, because using the session extended it. */
export const noteRenewal = (
  { sessionRenewed }: ExchangeShape,
  presented: { readonly ambient: boolean; readonly secret: Redacted.Redacted },
  principal: { readonly renewed?: boolean | undefined }
): void => {
  if (presented.ambient && principal.renewed === true) sessionRenewed?.(presented.secret)
}

/** Does the same for the current request. */
export const followRenewal = (
  presented: { readonly ambient: boolean; readonly secret: Redacted.Redacted },
  principal: { readonly renewed?: boolean | undefined }
): Effect.Effect<void> => Effect.map(Exchange, (exchange) => noteRenewal(exchange, presented, principal))

/** The id of the current request. */
export const currentRequestId: Effect.Effect<string> = Effect.map(Exchange, ({ requestId }) => requestId)
