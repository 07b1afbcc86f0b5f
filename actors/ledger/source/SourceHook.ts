import { createHmac, timingSafeEqual } from "node:crypto"
import { Effect, Stream } from "effect"
import type { ApiError } from "../../../schema/errors/ApiError.ts"

/** The proofs in one delivery that its sender has the Source's secret (specification, ruling 5). */
export interface HookProofs {
  /** The secret itself. */
  readonly secrets?: ReadonlyArray<string>
  /** Each `sha256=` and the HMAC of the body in hexadecimal. */
  readonly signatures?: ReadonlyArray<string>
  /**
   * A signature by the Standard Webhooks specification: it covers an id and a time before the body, and its key is the secret
   * decoded from Base64. The time is not limited, because a delivery that somebody repeats can only cause another look.
   */
  readonly standard?: { readonly id: string; readonly timestamp: string; readonly signatures: string } | undefined
}

/** Compared as digests, so that strings of any length take the same time. */
const sameText = (key: string, a: string, b: string): boolean =>
  timingSafeEqual(createHmac("sha256", key).update(a).digest(), createHmac("sha256", key).update(b).digest())

/**
 * True if a delivery proves possession of the Source's secret. Forges send up to four proofs in one request: at least one is
 * required, and every proof must be correct. The body is hashed on arrival and never held in memory; reading it fails if it is
 * too long or too slow.
 */
export const hookIsAuthentic = Effect.fnUntraced(function* (
  secret: string,
  { secrets = [], signatures = [], standard }: HookProofs,
  body: Stream.Stream<Uint8Array, ApiError>
): Effect.fn.Return<boolean, ApiError> {
  if (secrets.length + signatures.length === 0 && standard === undefined) return false
  const hash = createHmac("sha256", secret)
  const standardHash = createHmac("sha256", Buffer.from(secret, "base64url"))
  if (standard !== undefined) standardHash.update(`${standard.id}.${standard.timestamp}.`)
  yield* Stream.runForEach(body, (bytes) =>
    Effect.sync(() => {
      hash.update(bytes)
      if (standard !== undefined) standardHash.update(bytes)
    })
  )
  const signature = `sha256=${hash.digest("hex")}`
  const standardSignature = `v1,${standardHash.digest("base64")}`
  const verdicts = [
    ...secrets.map((value) => sameText(secret, value, secret)),
    ...signatures.map((value) => sameText(secret, value, signature)),
    // A sender that renews its key signs with both keys.
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
})
