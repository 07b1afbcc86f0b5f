import { Duration, Effect } from "effect"
import { compactVerify, createRemoteJWKSet, customFetch, errors } from "jose"
import { outsideTransaction } from "../../../runner/thread/OutsideTransaction.ts"
import { providerFetch } from "./ProviderFetch.ts"

/** Returns true if fetching the keys again could make a difference. */
const mayHaveRotated = (cause: unknown): boolean =>
  cause instanceof errors.JWKSNoMatchingKey || cause instanceof errors.JWSSignatureVerificationFailed

/**
 * Verifies signatures with the keys that a provider publishes at `address`. Keys are cached; an unverifiable signature causes one
 * more fetch, since a provider may rotate its keys at any time. Fails with the error from the last verification.
 */
export const publishedKeys = (address: string, algorithms: ReadonlyArray<string>, within: Duration.Duration) => {
  const keys = createRemoteJWKSet(new URL(address), {
    [customFetch]: providerFetch,
    timeoutDuration: Duration.toMillis(within),
    // Only the second attempt below fetches them again, so that no response causes more than one request.
    cooldownDuration: Number.POSITIVE_INFINITY
  })
  const outside = outsideTransaction("The keys of a sign-in provider are fetched")
  const verify = (token: string) =>
    Effect.tryPromise(() => compactVerify(token, keys, { algorithms: [...algorithms] })).pipe(outside)
  const fetchAgain = Effect.tryPromise(() => keys.reload()).pipe(outside)
  return Effect.fn("publishedKeys.verify")(function* (token: string) {
    yield* Effect.catchIf(
      verify(token),
      ({ cause }) => mayHaveRotated(cause),
      () => Effect.andThen(fetchAgain, verify(token))
    )
  })
}
