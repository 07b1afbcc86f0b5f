import { Clock, Effect, Schema } from "effect"
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify, type JWTVerifyOptions } from "jose"
import { json, visit } from "./Browser.ts"
import { TestIssuer } from "./IssuerFixture.ts"

const Keys = Schema.Struct({ keys: Schema.Array(Schema.Record(Schema.String, Schema.String)) })
const decodeKeys = Schema.decodeUnknownEffect(Keys)

export const keySet = Effect.gen(function* () {
  const { keys } = yield* Effect.flatMap(json(yield* visit("/oauth/jwks")), (body) => Effect.orDie(decodeKeys(body)))
  return keys
})

const asJwks = (keys: ReadonlyArray<Readonly<Record<string, string>>>): JSONWebKeySet => ({
  keys: keys.map((key) => ({ kty: key["kty"] ?? "", ...key }))
})

/** Verifies a JWT with the issuer's published keys, and dies if it is invalid. */
export const verifyJwt = Effect.fnUntraced(function* (
  token: string,
  options: JWTVerifyOptions,
  keys?: ReadonlyArray<Readonly<Record<string, string>>>
) {
  const { issuer } = yield* TestIssuer
  const set = createLocalJWKSet(asJwks(keys ?? (yield* keySet)))
  const currentDate = new Date(yield* Clock.currentTimeMillis)
  return yield* Effect.promise(() => jwtVerify(token, set, { issuer, currentDate, ...options }))
})

/** Verifies the client's ID token and returns its claims. */
export const idTokenClaims = Effect.fnUntraced(function* (idToken: string | undefined, clientId = "basic") {
  if (idToken === undefined) return yield* Effect.die(new Error("There is no ID token"))
  const { payload } = yield* verifyJwt(idToken, {
    audience: clientId,
    requiredClaims: ["exp", "iat", "sub", "auth_time"]
  })
  return payload
})
