import { expect } from "bun:test"
import { NodeCrypto } from "@effect/platform-node"
import { Effect, Redacted } from "effect"
import {
  type BearerKind,
  bearerPrefixes,
  isWellFormed,
  mintSecret,
  secretHash
} from "../../../../actors/base/credential/BearerSecret.ts"
import { it } from "../../../support/Effect.ts"

// An independent implementation of the checksum, bit by bit.
const slowChecksum = (text: string) => {
  let crc = 0xffffffff
  for (const byte of new TextEncoder().encode(text)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  let rest = BigInt((crc ^ 0xffffffff) >>> 0)
  let digits = ""
  const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
  for (let n = 0; n < 6; n++) {
    digits = alphabet[Number(rest % 62n)] + digits
    rest /= 62n
  }
  return digits
}

it.live("a new secret consists of a prefix, 30 characters and a checksum of both", () =>
  Effect.gen(function* () {
    const seen = new Set<string>()
    for (let n = 0; n < 300; n++) {
      const token = Redacted.value(yield* mintSecret("personalToken"))
      expect(token).toMatch(/^svcp_[0-9A-Za-z]{36}$/)
      expect(token.slice(-6)).toBe(slowChecksum(token.slice(0, -6)))
      expect(isWellFormed("personalToken", token)).toBe(true)
      seen.add(token)
    }
    expect(seen.size).toBe(300)
    // All 62 characters of the alphabet occur, so the generator excludes no character.
    expect(new Set([...seen].flatMap((token) => token.slice(5, 35).split(""))).size).toBe(62)
  }).pipe(Effect.provide(NodeCrypto.layer))
)

it.live("svc detects a secret of the wrong kind, or with a typo or a missing part, without a lookup", () =>
  Effect.gen(function* () {
    const token = Redacted.value(yield* mintSecret("personalToken"))
    for (let at = 0; at < token.length; at++) {
      for (const character of "aZ0_-é ") {
        if (token[at] === character) continue
        expect(isWellFormed("personalToken", token.slice(0, at) + character + token.slice(at + 1))).toBe(false)
      }
    }
    for (const wrong of ["", token.slice(1), token.slice(0, -1), `${token}0`, ` ${token}`, `${token}\n`]) {
      expect(isWellFormed("personalToken", wrong)).toBe(false)
    }
    for (const kind of ["session", "oauthAccess", "oauthRefresh", "setupLink"] satisfies ReadonlyArray<BearerKind>) {
      expect(isWellFormed(kind, token)).toBe(false)
      expect(isWellFormed(kind, bearerPrefixes[kind] + token.slice(5))).toBe(false)
    }
  }).pipe(Effect.provide(NodeCrypto.layer))
)

it.live("svc stores only the SHA-256 digest of a complete secret", () =>
  Effect.sync(() => {
    expect(secretHash(Redacted.make("abc"))).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  })
)
