import { Effect, Random } from "effect"

/**
 * Key of a request that starts work. The request takes effect once per key. A repeated request with the same key returns the
 * first result. By default, a new key is generated for each call, so that the client's own retries are safe.
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

/** Creates the header of a request that takes effect once. */
export const idempotencyHeaders = ({
  idempotencyKey
}: IdempotencyOptions): Effect.Effect<{ readonly "idempotency-key": string }> =>
  Effect.map(idempotencyKey === undefined ? newKey : Effect.succeed(idempotencyKey), (key) => ({
    "idempotency-key": key
  }))
