import { expect } from "bun:test"
import { NodeCrypto } from "@effect/platform-node"
import { Effect, Exit } from "effect"
import { Aead, SecureRandom } from "effect/crypto"
import { partBytes } from "../../../actors/base/vault/SealedParts.ts"
import { longestInPlace } from "../../../src/composition/NativeAead.ts"
import { cryptography } from "../../../src/composition/PlainPlatform.ts"
import { it } from "../../support/Effect.ts"

const text = (value: string) => new TextEncoder().encode(value)

/** Creates a key and a nonce, and returns the same operations with them as implemented by the service and by WebCrypto. */
const world = Effect.gen(function* () {
  const random = yield* SecureRandom.SecureRandom
  const key = yield* Aead.key(Aead.aes256Gcm, yield* random.randomBytes(32))
  const nonce = yield* random.randomBytes(12)
  const own = Effect.provide(cryptography)
  const other = Effect.provide(NodeCrypto.layer)
  const encrypt = (plain: Uint8Array, aad = text("place")) =>
    Effect.flatMap(Aead.Aead, (aead) => aead.encrypt(key, plain, { nonce, aad }))
  const decrypt = (sealed: Uint8Array, aad = text("place")) =>
    Effect.flatMap(Aead.Aead, (aead) => aead.decrypt(key, sealed, { nonce, aad }))
  return { decrypt, encrypt, other, own }
}).pipe(Effect.provide(NodeCrypto.layer))

it.live("the native AEAD seals and opens the same bytes as WebCrypto", () =>
  Effect.gen(function* () {
    const { decrypt, encrypt, other, own } = yield* world
    for (const plain of [
      new Uint8Array(0),
      text("a value"),
      new Uint8Array(1024 * 1024).fill(7),
      new Uint8Array(1024 * 1024 + 17).fill(7)
    ]) {
      const sealed = yield* own(encrypt(plain))
      expect(sealed).toEqual(yield* other(encrypt(plain)))
      expect(yield* own(decrypt(sealed))).toEqual(plain)
      expect(yield* other(decrypt(sealed))).toEqual(plain)
    }
  })
)

it.live("an encrypted part is exactly as long as the longest buffer that the native AEAD processes in place", () =>
  Effect.gen(function* () {
    const { encrypt, own } = yield* world
    const sealed = yield* own(encrypt(new Uint8Array(partBytes)))
    expect(sealed.length).toBe(longestInPlace)
  })
)

it.live("the native AEAD rejects ciphertext that was changed in any byte, moved or truncated", () =>
  Effect.gen(function* () {
    const { decrypt, encrypt, own } = yield* world
    const sealed = yield* own(encrypt(text("a value")))
    for (let index = 0; index < sealed.length; index++) {
      const changed = sealed.map((byte, at) => (at === index ? byte ^ 1 : byte))
      expect((yield* Effect.flip(own(decrypt(changed)))).reason._tag).toBe("DecryptionFailed")
    }
    expect((yield* Effect.flip(own(decrypt(sealed, text("another"))))).reason._tag).toBe("DecryptionFailed")
    expect(Exit.isFailure(yield* Effect.exit(own(decrypt(sealed.subarray(0, 16)))))).toBe(true)
    expect(Exit.isFailure(yield* Effect.exit(own(decrypt(sealed.subarray(0, 3)))))).toBe(true)
  })
)
