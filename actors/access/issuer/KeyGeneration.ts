import { Context, Effect } from "effect"
import { calculateJwkThumbprint, exportJWK } from "jose"
import { generateKeyPair, type KeyObject } from "node:crypto"
import { promisify } from "node:util"
import type { SigningAlgorithm } from "./Client.ts"

/** A new key pair, each half a JWK serialised as JSON. */
export interface NewKey {
  readonly kid: string
  readonly algorithm: SigningAlgorithm
  readonly publicJwk: string
  readonly privateJwk: string
}

// Does not use WebCrypto: its other operations would queue behind an RSA key.
const newPair = promisify(generateKeyPair)
const pairOf = (
  algorithm: SigningAlgorithm
): Promise<{ readonly publicKey: KeyObject; readonly privateKey: KeyObject }> =>
  algorithm === "RS256" ? newPair("rsa", { modulusLength: 2048 }) : newPair("ec", { namedCurve: "P-256" })

/** Generates a key pair on another thread, outside any transaction: RSA takes a while. */
const generateKey = Effect.fn("generateKey")(function* (algorithm: SigningAlgorithm) {
  const pair = yield* Effect.promise(() => pairOf(algorithm))
  const publicJwk = yield* Effect.promise(() => exportJWK(pair.publicKey))
  const privateJwk = yield* Effect.promise(() => exportJWK(pair.privateKey))
  const kid = yield* Effect.promise(() => calculateJwkThumbprint(publicJwk))
  const made: NewKey = { kid, algorithm, publicJwk: JSON.stringify(publicJwk), privateJwk: JSON.stringify(privateJwk) }
  return made
})

/** How the issuer's key pairs are generated. */
export const KeyGeneration = Context.Reference<{
  readonly generate: (algorithm: SigningAlgorithm) => Effect.Effect<NewKey>
}>("svc/actors/access/issuer/KeyGeneration", { defaultValue: () => ({ generate: generateKey }) })
