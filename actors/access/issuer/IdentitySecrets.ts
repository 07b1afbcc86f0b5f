import { createHash } from "node:crypto"
import { Effect, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { mintSecret } from "../../base/credential/BearerSecret.ts"
import { Vault } from "../../base/vault/Vault.ts"

const codeBytes = 32
const userCodeAlphabet = "BCDFGHJKLMNPQRSTVWXZ"
const userCodeLength = 8

/** Creates a secret from 256 random bits, such as `svcc_...`. The secret is shown only once. */
export const mintOneTimeSecret = Effect.fnUntraced(function* (prefix: "svcc_" | "svcd_" | "svcf_") {
  const random = yield* SecureRandom.SecureRandom
  const bytes = yield* random.randomBytes(codeBytes)
  return Redacted.make(`${prefix}${Buffer.from(bytes).toString("base64url")}`)
})

/**
 * Creates a code of eight letters without vowels, so that the code never forms a word. About 34 bits are enough, because a
 * code is valid for ten minutes and a few attempts.
 */
export const mintUserCode = Effect.gen(function* () {
  const random = yield* SecureRandom.SecureRandom
  let text = ""
  for (let at = 0; at < userCodeLength; at++) {
    const index = yield* random.intBetween(0, userCodeAlphabet.length - 1)
    text += userCodeAlphabet.charAt(index)
  }
  return text
})

/** Normalises a code that a person typed. Returns `undefined` if it cannot be a code. */
export const normaliseUserCode = (typed: string): string | undefined => {
  const text = typed.toUpperCase().replaceAll(/[^A-Z]/g, "")
  return text.length === userCodeLength && [...text].every((letter) => userCodeAlphabet.includes(letter))
    ? text
    : undefined
}

export const displayUserCode = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`

/**
 * Derives the refresh token that follows `parent`. Uses a key from the vault instead of randomness, so that a client that lost
 * the response can get the same token again.
 */
export const deriveSuccessor = Effect.fnUntraced(function* (parent: Redacted.Redacted) {
  const vault = yield* Vault
  let round = 0
  const randomBytes = Effect.fnUntraced(function* (size: number) {
    const digest = yield* vault.mac("oidc-refresh-successor", `${round++}:${Redacted.value(parent)}`)
    // Use SHAKE, because it can produce any number of bytes.
    return new Uint8Array(createHash("shake256", { outputLength: size }).update(digest).digest())
  })
  const random = yield* SecureRandom.SecureRandom
  return yield* Effect.provideService(mintSecret("oauthRefresh"), SecureRandom.SecureRandom, {
    ...random,
    randomBytes
  })
})
