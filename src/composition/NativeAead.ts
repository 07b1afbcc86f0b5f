import { createCipheriv, createDecipheriv } from "node:crypto"
import { SecureRandom } from "effect/crypto"
import { Layer, Result } from "effect"
import * as Aead from "effect/crypto/Aead"

const tagBytes = 16
const cipher = "aes-256-gcm"
const options = { authTagLength: tagBytes }

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
    const plaintext = opening.update(ciphertext.subarray(0, end))
    return Result.match(
      Result.try(() => opening.final()),
      { onSuccess: () => new Uint8Array(plaintext), onFailure: () => undefined }
    )
  }
}

/**
 * AES-256-GCM on `node:crypto`. A value takes about a microsecond; `crypto.subtle` imports the key and uses another thread, which
 * takes sixty. What is sealed at once is at most a part of a long value.
 */
export const layerNativeAead = Aead.layerWebCryptoWith({ implementations: { aes256Gcm } }).pipe(
  Layer.provide(SecureRandom.layerWebCrypto)
)
