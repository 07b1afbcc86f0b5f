import { createHmac, timingSafeEqual } from "node:crypto"
import { Effect, Stream } from "effect"
import type { ApiError } from "../../../schema/errors/ApiError.ts"

/** A delivery's proof that its sender has the Source's secret (specification, ruling 5). */
export interface HookProofs {
  /** The secret itself. */
  readonly secrets?: ReadonlyArray<string>
  /** Hexadecimal HMACs of the body, each from a `sha256=` header. */
  readonly signatures?: ReadonlyArray<string>
  /**
   * A Standard Webhooks signature. It covers an id, a time and the body. The key is the secret, decoded from Base64. The
   * time is not checked, because a replayed delivery only causes another check.
   */
  readonly standard?: { readonly id: string; readonly timestamp: string; readonly signatures: string } | undefined
}

/** Compares texts in constant time. The texts may have any length, because only their digests are compared. */
const sameText = (key: string, a: string, b: string): boolean =>
  timingSafeEqual(createHmac("sha256", key).update(a).digest(), createHmac("sha256", key).update(b).digest())

/** Checks the proofs of a delivery against one secret while the delivery's body arrives. */
const comparison = (secret: string, { secrets = [], signatures = [], standard }: HookProofs) => {
  const hash = createHmac("sha256", secret)
  const standardHash = createHmac("sha256", Buffer.from(secret, "base64url"))
  if (standard !== undefined) standardHash.update(`${standard.id}.${standard.timestamp}.`)
  return {
    update: (bytes: Uint8Array) => {
      hash.update(bytes)
      if (standard !== undefined) standardHash.update(bytes)
    },
    isRight: () => {
      const signature = `sha256=${hash.digest("hex")}`
      const standardSignature = `v1,${standardHash.digest("base64")}`
      const verdicts = [
        ...secrets.map((value) => sameText(secret, value, secret)),
        ...signatures.map((value) => sameText(secret, value, signature)),
        // Several signatures may be present, because a sender signs with both keys during a key rotation.
        ...(standard === undefined
          ? []
          : [
              standard.signatures
                .split(" ")
                .map((value) => sameText(secret, value, standardSignature))
                .includes(true)
            ])
      ]
      return !verdicts.includes(false)
    }
  }
}

/**
 * Returns the first of these secrets that matches the proofs of a delivery, or `undefined` if none matches. Forges may send
 * up to four proofs per request. At least one is required, and all must be correct for the same secret. The body is hashed
 * as it arrives and never buffered. Fails if the body is too long or arrives too slowly.
 */
export const provenSecret = Effect.fnUntraced(function* (
  known: ReadonlyArray<string>,
  proofs: HookProofs,
  body: Stream.Stream<Uint8Array, ApiError>
): Effect.fn.Return<string | undefined, ApiError> {
  const { secrets = [], signatures = [], standard } = proofs
  if (secrets.length + signatures.length === 0 && standard === undefined) return undefined
  const comparisons = known.map((secret) => ({ secret, ...comparison(secret, proofs) }))
  yield* Stream.runForEach(body, (bytes) =>
    Effect.sync(() => {
      for (const { update } of comparisons) update(bytes)
    })
  )
  // Always makes all comparisons, so that the duration does not reveal the result.
  return comparisons.filter(({ isRight }) => isRight())[0]?.secret
})
