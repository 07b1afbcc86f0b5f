import { createCipheriv, createDecipheriv } from "node:crypto"
import { Context, Effect, Layer, Result } from "effect"
import { Aead, SecureRandom } from "effect/crypto"

const tagBytes = 16
const cipher = "aes-256-gcm"
const options = { authTagLength: tagBytes }

/**
 * Maximum length to encrypt with `node:crypto`. It is sufficient for one sealed part of a long value. Encrypting a larger
 * value would block the entire process for a quarter of a millisecond per MiB.
 */
export const longestInPlace = 1024 * 1024 + tagBytes

const aes256Gcm: Aead.Implementation = {
  encrypt: (key, nonce, plaintext, aad) => {
    const sealing = createCipheriv(cipher, key, nonce, options).setAAD(aad)
    const sealed = new Uint8Array(plaintext.length + tagBytes)
    sealed.set(sealing.update(plaintext))
    sealing.final()
    sealed.set(sealing.getAuthTag(), plaintext.length)
    return sealed
  },
  decrypt: (key, nonce, ciphertext, aad) => {
    const end = ciphertext.length - tagBytes
    const opening = createDecipheriv(cipher, key, nonce, options).setAAD(aad).setAuthTag(ciphertext.subarray(end))
    const opened = opening.update(ciphertext.subarray(0, end))
    const plaintext = Result.match(
      Result.try(() => opening.final()),
      { onSuccess: () => new Uint8Array(opened), onFailure: () => undefined }
    )
    opened.fill(0)
    return plaintext
  }
}

const inPlace = Aead.layerWebCryptoWith({ implementations: { aes256Gcm } })

/**
 * Implements AES-256-GCM with `node:crypto`. A short value takes about a microsecond. With `crypto.subtle`, which imports
 * the key and uses another thread, it would take about sixty microseconds. Long values still use `crypto.subtle`.
 */
export const layerNativeAead = Layer.effect(
  Aead.Aead,
  Effect.gen(function* () {
    const short = Context.get(yield* Layer.build(inPlace), Aead.Aead)
    const long = Context.get(yield* Layer.build(Aead.layerWebCrypto), Aead.Aead)
    const suited = (data: Uint8Array) => (data.length > longestInPlace ? long : short)
    return Aead.Aead.of({
      generateKey: short.generateKey,
      encrypt: (key, plaintext, given) => suited(plaintext).encrypt(key, plaintext, given),
      decrypt: (key, ciphertext, given) => suited(ciphertext).decrypt(key, ciphertext, given)
    })
  })
).pipe(Layer.provide(SecureRandom.layerWebCrypto))
