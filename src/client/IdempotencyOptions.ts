import { Effect, Random } from "effect"

/**
 * A request that starts work takes effect once per key. A repeated request with the same key returns the first result. Without a
 * key, one is generated per call, which protects the client's own retries.
 */
export interface IdempotencyOptions {
  readonly idempotencyKey?: string
}

const alphabet = "abcdefghijklmnopqrstuvwxyz234567"
const length = 26

const newKey = Effect.map(Random.Random, (random) => {
  let key = ""
  for (let at = 0; at < length; at++) key += alphabet.charAt(Math.floor(random.nextDoubleUnsafe() * alphabet.length))
  return key
})

/** The header of a request that takes effect once. */
export const idempotencyHeaders = ({
  idempotencyKey
}: IdempotencyOptions): Effect.Effect<{ readonly "idempotency-key": string }> =>
  Effect.map(idempotencyKey === undefined ? newKey : Effect.succeed(idempotencyKey), (key) => ({
    "idempotency-key": key
  }))
