import { Effect, Option, Schema } from "effect"
import { IssuerSettings } from "../../../actors/access/issuer/IssuerSettings.ts"
import { SigningKeys } from "../../../actors/access/issuer/SigningKeys.ts"

const Hint = Schema.Struct({
  iss: Schema.String,
  aud: Schema.String,
  sub: Schema.String,
  sid: Schema.optionalKey(Schema.String)
})
export type IdTokenHint = typeof Hint.Type
const decodeHint = Schema.decodeUnknownOption(Hint)

/**
 * Returns the subject of an ID token from this issuer. Accepts expired tokens, because a hint only refers to a past session.
 * Returns `undefined` for anything that this issuer did not sign as an ID token.
 */
export const readIdTokenHint = Effect.fn("readIdTokenHint")(function* (jwt: string) {
  const keys = yield* SigningKeys
  const { issuer } = yield* IssuerSettings
  const verified = yield* keys.verify(jwt)
  // Refuse tokens that have a type, because they are resource tokens.
  if (verified === undefined || verified.type !== undefined) return undefined
  const hint = decodeHint(verified.claims)
  return Option.isSome(hint) && hint.value.iss === issuer ? hint.value : undefined
})
