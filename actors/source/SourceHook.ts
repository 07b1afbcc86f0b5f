import { createHmac, timingSafeEqual } from "node:crypto"
import { Effect, Stream } from "effect"
import type { ApiError } from "../../schema/errors/ApiError.ts"

/** How a webhook delivery is authenticated (specification, ruling 5). */
export interface HookProof {
  readonly signature256?: string | undefined
  readonly gitlabToken?: string | undefined
  readonly bearer?: string | undefined
  /** Read once. It fails when it is too long or too slow. */
  readonly body: Stream.Stream<Uint8Array, ApiError>
}

/** Compared as digests, so that strings of any length take the same time. */
const sameText = (key: string, a: string, b: string): boolean =>
  timingSafeEqual(createHmac("sha256", key).update(a).digest(), createHmac("sha256", key).update(b).digest())

/**
 * Whether a delivery proves knowledge of the Source's secret: exactly one proof, over the raw body if the scheme signs it. The
 * body is hashed while it arrives and never held.
 */
export const hookIsAuthentic = Effect.fnUntraced(function* (
  secret: string,
  proof: HookProof
): Effect.fn.Return<boolean, ApiError> {
  const given = [proof.signature256, proof.gitlabToken, proof.bearer].filter((value) => value !== undefined)
  if (given.length !== 1) return false
  const hash = createHmac("sha256", secret)
  yield* Stream.runForEach(proof.body, (bytes) => Effect.sync(() => void hash.update(bytes)))
  if (proof.signature256 !== undefined) {
    const expected = `sha256=${hash.digest("hex")}`
    return sameText(secret, proof.signature256, expected)
  }
  return sameText(secret, proof.gitlabToken ?? proof.bearer ?? "", secret)
})
