import { Effect, Redacted, Result, Schema } from "effect"
import { Digest, Kdf } from "effect/crypto"
import { Base64, Base64Url, Hex } from "effect/encoding"
import { VaultLocked } from "./Sealing.ts"

export const masterKeyLength = 32

/** A root key. A `decrypt-only` key decrypts existing values but seals nothing new. */
export interface MasterKey {
  /**
   * `mk_` and 16 hexadecimal digits, computed from the key. The same key always has the same id, regardless of its source.
   */
  readonly id: string
  readonly status: "active" | "decrypt-only"
  readonly secret: Redacted.Redacted<Uint8Array>
}

/** All available keys, exactly one of which is active. */
export interface Keyring {
  readonly active: MasterKey
  readonly keys: ReadonlyArray<MasterKey>
}

const StoredKeyring = Schema.fromJsonString(
  Schema.Struct({
    version: Schema.Literal(1),
    keys: Schema.Array(
      Schema.Struct({
        id: Schema.String,
        status: Schema.Literals(["active", "decrypt-only"]),
        key: Schema.RedactedFromValue(Schema.Uint8ArrayFromBase64)
      })
    )
  })
)

const noSalt = new Uint8Array()
const label = (text: string) => new TextEncoder().encode(text)

/** Derives a key from `secret` for a single purpose. */
export const deriveKey = Effect.fnUntraced(function* (secret: Redacted.Redacted<Uint8Array>, purpose: string) {
  const kdf = yield* Kdf.Kdf
  const derived = kdf.derive(Kdf.hkdfSha256, Redacted.value(secret), {
    salt: noSalt,
    info: label(purpose),
    length: masterKeyLength
  })
  return yield* Effect.orDie(derived)
})

/** Creates a key. Its id is a digest of a derived value, so it reveals nothing about the key. */
export const makeMasterKey = Effect.fnUntraced(function* (
  secret: Redacted.Redacted<Uint8Array>,
  status: MasterKey["status"]
) {
  const digest = yield* Digest.Digest
  const name = yield* digest.digest(Digest.sha256, yield* deriveKey(secret, "svc/vault/master-key-id/v1"))
  return { id: `mk_${Hex.encode(name.slice(0, 8))}`, status, secret } satisfies MasterKey
})

/** Fails with `VaultLocked` unless exactly one key is active and all keys are different. */
export const makeKeyring = Effect.fnUntraced(function* (keys: ReadonlyArray<MasterKey>) {
  const [active, ...others] = keys.filter((key) => key.status === "active")
  if (active === undefined || others.length > 0) {
    return yield* VaultLocked.because("A keyring needs exactly one active master key.")
  }
  if (new Set(keys.map((key) => key.id)).size !== keys.length) {
    return yield* VaultLocked.because("The same master key is given twice. Name each key once.")
  }
  return { active, keys } satisfies Keyring
})

const decodeKey = (text: string): Result.Result<Uint8Array, unknown> => {
  if (/^[0-9a-fA-F]{64}$/.test(text)) return Hex.decode(text)
  return /[-_]/.test(text) || !text.endsWith("=") ? Base64Url.decode(text) : Base64.decode(text)
}

const fromPlainKeys = Effect.fnUntraced(function* (text: string, origin: string) {
  const words = text.split(/[\s,]+/).filter((word) => word !== "")
  const keys = yield* Effect.forEach(words, (word, index) => {
    const bytes = decodeKey(word)
    return Result.isSuccess(bytes) && bytes.success.length === masterKeyLength
      ? makeMasterKey(Redacted.make(bytes.success), index === 0 ? "active" : "decrypt-only")
      : VaultLocked.because(
          `Key ${index + 1} of ${origin} is not a master key. Expected 32 random bytes as 64 hex digits or base64, e.g. from \`openssl rand -hex 32\`.`
        )
  })
  return yield* makeKeyring(keys)
})

/** Parses a keyring, or plain keys. Error messages give `origin` as the source of the keys. */
export const parseKeyring = Effect.fn("parseKeyring")(function* (text: Redacted.Redacted, origin: string) {
  const plain = Redacted.value(text).trim()
  if (!plain.startsWith("{")) return yield* fromPlainKeys(plain, origin)
  const stored = yield* Schema.decodeEffect(StoredKeyring)(plain).pipe(
    // Replaces the parser's message, which may contain parts of the input.
    Effect.mapError(() => VaultLocked.because(`${origin} is not a keyring of this release, or it is damaged.`))
  )
  const keys = yield* Effect.forEach(stored.keys, (entry) => makeMasterKey(entry.key, entry.status))
  if (
    keys.some(
      (key, index) => key.id !== stored.keys[index]?.id || Redacted.value(key.secret).length !== masterKeyLength
    )
  ) {
    return yield* VaultLocked.because(`${origin} is damaged: a key does not match its id.`)
  }
  return yield* makeKeyring(keys)
})

/** Returns the content of a keyring file. */
export const printKeyring = (keyring: Keyring): Effect.Effect<Redacted.Redacted> =>
  Schema.encodeEffect(StoredKeyring)({
    version: 1,
    keys: keyring.keys.map(({ id, status, secret }) => ({ id, status, key: secret }))
  }).pipe(Effect.orDie, Effect.map(Redacted.make))
