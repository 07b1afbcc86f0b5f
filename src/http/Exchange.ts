import { Context, Effect, type Redacted } from "effect"
import type { RunFrames } from "../streams/RunFrames.ts"

/**
 * What the listener knows of one request beside its bytes. A host that mounts the routes on a server of its own may leave
 * it out: the request then gets its id from the router, and live routes answer over server-sent events only.
 */
export interface ExchangeShape {
  readonly requestId: string
  readonly remoteAddress?: string | undefined
  /** Called when the whole body has arrived: from then on the connection may be idle while the server works. */
  readonly bodyReceived: () => void
  /** Called when the session in the request's cookie was renewed, so that the answer renews the cookie as well. */
  readonly sessionRenewed?: ((secret: Redacted.Redacted) => void) | undefined
  /** Turns the connection into a WebSocket that carries the frames; false when the request is no upgrade. */
  readonly upgrade?: ((frames: RunFrames) => boolean) | undefined
}

export const Exchange = Context.Reference<ExchangeShape>("svc/http/Exchange", {
  defaultValue: () => ({ requestId: "", bodyReceived: () => {} })
})

const alphabet = "abcdefghijklmnopqrstuvwxyz234567"

/** A new request id: `req_` and 80 random bits. Ids that clients send are never taken over. */
export const makeRequestId = (random: { readonly nextDoubleUnsafe: () => number }): string => {
  let id = "req_"
  for (let at = 0; at < 16; at++) id += alphabet.charAt(Math.floor(random.nextDoubleUnsafe() * alphabet.length))
  return id
}

/** Lets the answer to the request in progress renew the cookie of a session that its use renewed. */
export const noteRenewal = (
  { sessionRenewed }: ExchangeShape,
  presented: { readonly ambient: boolean; readonly secret: Redacted.Redacted },
  principal: { readonly renewed?: boolean | undefined }
): void => {
  if (presented.ambient && principal.renewed === true) sessionRenewed?.(presented.secret)
}

/** The same for the request in progress. */
export const followRenewal = (
  presented: { readonly ambient: boolean; readonly secret: Redacted.Redacted },
  principal: { readonly renewed?: boolean | undefined }
): Effect.Effect<void> => Effect.map(Exchange, (exchange) => noteRenewal(exchange, presented, principal))

/** The id of the request in progress. */
export const currentRequestId: Effect.Effect<string> = Effect.map(Exchange, ({ requestId }) => requestId)
