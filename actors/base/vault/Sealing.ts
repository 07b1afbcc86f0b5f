import { Effect, Redacted, Schema } from "effect"
import { Aead, SecureRandom } from "effect/crypto"

/**
 * A sealed value could not be decrypted: it was changed or moved to another record, or its key is missing. The error deliberately
 * contains no details.
 */
export class VaultOpenFailed extends Schema.TaggedError<VaultOpenFailed>()("VaultOpenFailed", {
  message: Schema.String
}) {
  static readonly anywhere = () => new VaultOpenFailed({ message: "A sealed value could not be opened." })
}

/** The vault cannot be used with the given master keys. `keyIds` lists missing keys, if they are the reason. */
export class VaultLocked extends Schema.TaggedError<VaultLocked>()("VaultLocked", {
  message: Schema.String,
  keyIds: Schema.Array(Schema.String)
}) {
  static readonly because = (message: string) => new VaultLocked({ message, keyIds: [] })
}

// Uses Buffer, whose codec is native. Any other codec would be slow for a state that is many MiB long.
export const encode = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64url")

/** Rejects any other encoding of the same bytes, so that every changed character is detected. */
export const decode = (text: string): Uint8Array | undefined => {
  const bytes = Buffer.from(text, "base64url")
  return bytes.toString("base64url") === text ? new Uint8Array(bytes) : undefined
}

/** Encodes unambiguously the identity that a sealed value is bound to. */
export const identity = (parts: ReadonlyArray<string | number | null>): Uint8Array =>
  new TextEncoder().encode(JSON.stringify(parts))

/** The location of a sealed value, which cannot be decrypted anywhere else. */
export interface SealContext {
  readonly table: string
  readonly column: string
  /** `null` for records outside any Workspace. */
  readonly workspaceId: string | null
  readonly rowId: string
  /**
   * Distinguishes successive values stored in the same place (for a state, its generation), so that nobody can replace a
   * newer value with an older one.
   */
  readonly version?: string | number | undefined
}

/** The identity of a value: the key that seals it, and its location. */
export const valueIdentity = (dataKeyId: string, context: SealContext) => [
  "svc/vault/value/v1",
  dataKeyId,
  context.table,
  context.column,
  context.workspaceId,
  context.rowId,
  context.version ?? null
]

/** Ciphers, keyed by data key. A cipher stays cached for as long as its key is. */
const ciphers = new WeakMap<Redacted.Redacted<Uint8Array>, Aead.Key>()

export const keyOf = (key: Redacted.Redacted<Uint8Array>) =>
  Effect.suspend(() => {
    const known = ciphers.get(key)
    if (known !== undefined) return Effect.succeed(known)
    return Effect.map(Effect.orDie(Aead.key(Aead.aes256Gcm, Redacted.value(key))), (cipher) => {
      ciphers.set(key, cipher)
      return cipher
    })
  })

/** Seals with AES-256-GCM and a random nonce. Returns `nonce.ciphertext` in base64url. */
export const sealBytes = Effect.fnUntraced(function* (
  key: Redacted.Redacted<Uint8Array>,
  aad: Uint8Array,
  plain: Uint8Array
) {
  const aead = yield* Aead.Aead
  const random = yield* SecureRandom.SecureRandom
  const nonce = yield* random.randomBytes(Aead.aes256Gcm.nonceLength)
  const ciphertext = yield* Effect.orDie(aead.encrypt(yield* keyOf(key), plain, { nonce, aad }))
  return `${encode(nonce)}.${encode(ciphertext)}`
})

/** Decrypts a value that `sealBytes` sealed. Fails with `VaultOpenFailed` for any other input. */
export const openBytes = Effect.fnUntraced(function* (
  key: Redacted.Redacted<Uint8Array>,
  aad: Uint8Array,
  sealed: string
) {
  const aead = yield* Aead.Aead
  const [nonceText, ciphertextText, ...rest] = sealed.split(".")
  if (nonceText === undefined || ciphertextText === undefined || rest.length > 0)
    return yield* VaultOpenFailed.anywhere()
  const nonce = decode(nonceText)
  const ciphertext = decode(ciphertextText)
  if (nonce === undefined || ciphertext === undefined) return yield* VaultOpenFailed.anywhere()
  return yield* aead
    .decrypt(yield* keyOf(key), ciphertext, { nonce, aad })
    .pipe(Effect.mapError(VaultOpenFailed.anywhere))
})
