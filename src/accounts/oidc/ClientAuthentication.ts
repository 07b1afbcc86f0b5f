import { createHash, timingSafeEqual } from "node:crypto"
import { Effect, Option, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { ReadSql } from "../../../actors/base/database/ReadSql.ts"
import type { Client } from "../../../actors/access/issuer/Client.ts"
import { Clients } from "../../../actors/access/issuer/Clients.ts"
import { clientDenial } from "../../../actors/access/issuer/LiveAuthority.ts"
import { failClosed, refuse } from "../../../actors/access/issuer/OAuthError.ts"
import type { Parameters } from "./Parameters.ts"

interface Presented {
  readonly clientId: string
  readonly secret: Redacted.Redacted | undefined
}

// The response to every failed authentication. It is always the same, so that it does not reveal which clients exist.
const unknownClient = refuse("invalid_client", "The client is unknown or its authentication failed.")

const basicPattern = /^basic ([A-Za-z0-9+/=]{1,2048})$/i

// Decodes one half of the header. Both halves are form-encoded before they are joined (RFC 6749 2.3.1).
const formDecoded = (text: string): string => new URLSearchParams(`v=${text.replaceAll("&", "%26")}`).get("v") ?? ""

const fromBasic = (header: string): Presented | undefined => {
  const encoded = basicPattern.exec(header)?.[1]
  if (encoded === undefined) return undefined
  const text = Buffer.from(encoded, "base64").toString("latin1")
  const at = text.indexOf(":")
  if (at < 0) return undefined
  return { clientId: formDecoded(text.slice(0, at)), secret: Redacted.make(formDecoded(text.slice(at + 1))) }
}

const presented = Effect.fnUntraced(function* (parameters: Parameters) {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  const header = headers["authorization"]
  const clientId = parameters.get("client_id")
  const secret = parameters.get("client_secret")
  if (header === undefined) {
    if (clientId === undefined) return yield* unknownClient
    return { clientId, secret: secret === undefined ? undefined : Redacted.make(secret) } satisfies Presented
  }
  const basic = fromBasic(header)
  if (basic === undefined) return yield* unknownClient
  if (secret !== undefined || (clientId !== undefined && clientId !== basic.clientId)) {
    return yield* refuse("invalid_request", "The client authenticates in more than one way.")
  }
  return basic
})

const secretMatches = (secret: Redacted.Redacted, hash: Redacted.Redacted): boolean =>
  timingSafeEqual(
    createHash("sha256").update(Redacted.value(secret)).digest(),
    Buffer.from(Redacted.value(hash), "hex")
  )

/** Returns the client that the request claims to come from, without authenticating it. */
const named = Effect.fnUntraced(function* (parameters: Parameters) {
  const sql = yield* ReadSql
  const clients = yield* Clients
  const { clientId, secret } = yield* presented(parameters)
  const found = yield* failClosed(clients.find(sql, clientId))
  if (Option.isNone(found)) return yield* unknownClient
  const client: Client = found.value
  return { client, secret }
})

/**
 * Authenticates the client that sent a request. A confidential client uses HTTP Basic or the form; a public client only
 * sends its id. Fails with `invalid_client`.
 */
export const authenticatedClient = Effect.fn("authenticatedClient")(function* (parameters: Parameters) {
  const { client, secret } = yield* named(parameters)
  if (client.secretHash === undefined) return secret === undefined ? client : yield* unknownClient
  if (secret === undefined || !secretMatches(secret, client.secretHash)) return yield* unknownClient
  return client
})

/**
 * Authenticates a client that may introspect tokens: a confidential client, or a Capsule's resource server, which uses its
 * generated secret while the Capsule's identity is valid. Fails with `invalid_client`, or with `unauthorized_client` for a
 * public client.
 */
export const introspectingClient = Effect.fn("introspectingClient")(function* (parameters: Parameters) {
  const { client, secret } = yield* named(parameters)
  if (client.secretHash === undefined && secret === undefined) {
    return yield* refuse("unauthorized_client", "Only clients with a secret may introspect.")
  }
  const hash = client.secretHash ?? client.introspectionHash
  if (hash === undefined || secret === undefined || !secretMatches(secret, hash)) return yield* unknownClient
  const denial = yield* failClosed(clientDenial(yield* ReadSql, client))
  return denial === undefined ? client : yield* unknownClient
})
