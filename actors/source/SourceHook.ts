import { createHmac, timingSafeEqual } from "node:crypto"

/** How a webhook delivery is authenticated (specification, ruling 5). */
export interface HookProof {
  readonly signature256?: string | undefined
  readonly gitlabToken?: string | undefined
  readonly bearer?: string | undefined
  readonly body: Uint8Array
}

/** Compared as digests, so that strings of any length take the same time. */
const sameText = (key: string, a: string, b: string): boolean =>
  timingSafeEqual(createHmac("sha256", key).update(a).digest(), createHmac("sha256", key).update(b).digest())

/** Whether a delivery proves knowledge of the Source's secret: exactly one proof, over the raw body if the scheme signs it. */
export const hookIsAuthentic = (secret: string, proof: HookProof): boolean => {
  const given = [proof.signature256, proof.gitlabToken, proof.bearer].filter((value) => value !== undefined)
  if (given.length !== 1) return false
  if (proof.signature256 !== undefined) {
    const expected = `sha256=${createHmac("sha256", secret).update(proof.body).digest("hex")}`
    return sameText(secret, proof.signature256, expected)
  }
  return sameText(secret, proof.gitlabToken ?? proof.bearer ?? "", secret)
}
