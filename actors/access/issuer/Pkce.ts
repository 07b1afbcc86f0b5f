import { createHash, timingSafeEqual } from "node:crypto"

const challengePattern = /^[A-Za-z0-9_-]{43}$/
const verifierPattern = /^[A-Za-z0-9._~-]{43,128}$/

/** An S256 challenge is the base64url of a SHA-256, nothing else. */
export const isChallenge = (text: string): boolean => challengePattern.test(text)

/** True if the challenge was derived from this verifier. */
export const verifierMatches = (verifier: string, challenge: string): boolean => {
  if (!verifierPattern.test(verifier)) return false
  const made = createHash("sha256").update(verifier).digest("base64url")
  return made.length === challenge.length && timingSafeEqual(Buffer.from(made), Buffer.from(challenge))
}
