import { hash } from "node:crypto"
import { crc32 } from "node:zlib"
import { Effect, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"

/** Kinds of bearer secrets. Each has a different prefix, so that secret scanners and people can tell them apart. */
export const bearerPrefixes = {
  personalToken: "svcp_",
  oauthAccess: "svca_",
  oauthRefresh: "svcr_",
  session: "svcs_",
  setupLink: "svct_",
  invitation: "svci_",
  addressChange: "svce_",
  upstreamSignIn: "svcu_",
  setupTicket: "svch_",
  oauthState: "svco_",
  agentEnrolment: "svcn_",
  agentSession: "svcg_"
} as const
export type BearerKind = keyof typeof bearerPrefixes

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const randomLength = 30
const checksumLength = 6
// The largest multiple of 62 that fits in a byte. Higher bytes are discarded, because using them would make some characters more
// likely.
const fairBytes = 248

const secretPattern = new RegExp(`^[0-9A-Za-z]{${randomLength + checksumLength}}$`)

const checksum = (text: string): string => {
  let rest = crc32(text)
  let digits = ""
  for (let n = 0; n < checksumLength; n++) {
    digits = alphabet.charAt(rest % 62) + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

const randomText = Effect.fnUntraced(function* (length: number) {
  const random = yield* SecureRandom.SecureRandom
  let text = ""
  while (text.length < length) {
    for (const byte of yield* random.randomBytes(length)) {
      if (byte < fairBytes && text.length < length) text += alphabet.charAt(byte % 62)
    }
  }
  return text
})

/** Creates a secret: the prefix, 30 random base62 characters (178 bits), and a checksum of both. */
export const mintSecret = Effect.fnUntraced(function* (kind: BearerKind) {
  const body = `${bearerPrefixes[kind]}${yield* randomText(randomLength)}`
  return Redacted.make(body + checksum(body))
})

/**
 * Returns true if the string has the form of a bearer secret of this kind, including the checksum. The secret may still be
 * invalid.
 */
export const isWellFormed = (kind: BearerKind, text: string): boolean => {
  const prefix = bearerPrefixes[kind]
  if (!text.startsWith(prefix) || !secretPattern.test(text.slice(prefix.length))) return false
  return checksum(text.slice(0, -checksumLength)) === text.slice(-checksumLength)
}

/**
 * Computes the stored form of a secret. It has no salt, because lookups need a fixed value. A salt is not necessary, because
 * nobody can guess 178 random bits.
 */
export const secretHash = (secret: Redacted.Redacted): string => hash("sha256", Redacted.value(secret), "hex")
