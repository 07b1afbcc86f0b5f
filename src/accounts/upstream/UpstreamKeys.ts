import { Duration, Effect } from "effect"
import { compactVerify, createRemoteJWKSet, customFetch, errors } from "jose"
import { outsideTransaction } from "../../../runner/thread/OutsideTransaction.ts"
import { providerFetch } from "./ProviderFetch.ts"

/** Returns true if the verification might succeed with newly fetched keys. */
const mayHaveRotated = (cause: unknown): boolean =>
  cause instanceof errors.JWKSNoMatchingKey || cause instanceof errors.JWSSignatureVerificationFailed

/**
 * Verifies signatures with the keys that a provider publishes at `address`. Caches the keys, and fetches them once more if a
 * signature cannot be verified, because a provider may rotate its keys at any time. Fails with the error of the last
 * verification.
 */
export const publishedKeys = (address: string, algorithms: ReadonlyArray<string>, within: Duration.Duration) => {
  const keys = createRemoteJWKSet(new URL(address), {
    [customFetch]: providerFetch,
    timeoutDuration: Duration.toMillis(within),
    // Disables the library's own refetching. Only the second attempt below fetches the keys again, so that no response causes
    // more than one request.
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
