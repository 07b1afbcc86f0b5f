import { Effect, Redacted, Schema } from "effect"
import { Aead, SecureRandom } from "effect/crypto"

/**
 * A sealed value could not be opened: it has been changed or moved to another record, or its key is missing. The error
 * deliberately gives no further detail.
 */
export class VaultOpenFailed extends Schema.TaggedError<VaultOpenFailed>()("VaultOpenFailed", {
  message: Schema.String
}) {
  static readonly anywhere = () => new VaultOpenFailed({ message: "A sealed value could not be opened." })
}

/** The vault cannot work with the given master keys. `keyIds` are the missing keys, if that is the reason. */
export class VaultLocked extends Schema.TaggedError<VaultLocked>()("VaultLocked", {
  message: Schema.String,
  keyIds: Schema.Array(Schema.String)
}) {
  static readonly because = (message: string) => new VaultLocked({ message, keyIds: [] })
}

// Buffer's codec is native; anything else would be slow for a state file of many MiB.
export const encode = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64url")

/** Strict: every other spelling of the same bytes is refused, so that a change to any character is noticed. */
export const decode = (text: string): Uint8Array | undefined => {
  const bytes = Buffer.from(text, "base64url")
  return bytes.toString("base64url") === text ? new Uint8Array(bytes) : undefined
}

/** The identity that a sealed value is bound to, in a single unambiguous spelling. */
export const identity = (parts: ReadonlyArray<string | number | null>): Uint8Array =>
  new TextEncoder().encode(JSON.stringify(parts))

/** The place of a sealed value. It cannot be opened anywhere else. */
export interface SealContext {
  readonly table: string
  readonly column: string
  /** `null` for records that belong to no Workspace. */
  readonly workspaceId: string | null
  readonly rowId: string
  /** For values that are replaced in place, e.g. a state generation: an older value cannot be passed off as a newer value. */
  readonly version?: string | number | undefined
}

/** The binding of a value: the key that seals it, and its place. */
export const valueIdentity = (dataKeyId: string, context: SealContext) => [
  "svc/vault/value/v1",
  dataKeyId,
  context.table,
  context.column,
  context.workspaceId,
  context.rowId,
  context.version ?? null
]

/** Ciphers by their data keys, cached as long as the keys. */
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

/** AES-256-GCM under a fresh random nonce; the result is `nonce.ciphertext`, base64url. */
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

/** Opens the output of `sealBytes`. Fails with `VaultOpenFailed` for any other input. */
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
