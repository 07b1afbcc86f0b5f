import { DateTime, Effect, Redacted, Schema } from "effect"

const PrivateKey = Schema.RedactedFromValue(Schema.Uint8ArrayFromBase64)

/**
 * Private keys as stored in a file that only the agent can read: PKCS #8 in base64.
 *
 * - `madeAt`: absent in files from releases that did not replace keys
 * - `former`: replaced keys, which open messages sealed for them earlier
 * - `replaced`: earlier signing keys, and announced keys that were never adopted, newest first; a server restored from a
 *   backup may accept only one of these keys
 */
export const StoredKeys = Schema.Struct({
  version: Schema.Literal(1),
  sign: PrivateKey,
  seal: PrivateKey,
  public: Schema.Struct({ sign: Schema.String, seal: Schema.String }),
  madeAt: Schema.optionalKey(Schema.String),
  former: Schema.optionalKey(Schema.Array(PrivateKey)),
  replaced: Schema.optionalKey(Schema.Array(Schema.Struct({ sign: PrivateKey })))
})
export type StoredKeys = typeof StoredKeys.Type

/** The key with which the agent signs. */
export type Signer = Pick<StoredKeys, "sign">

const rawPublic = (key: CryptoKey) =>
  crypto.subtle.exportKey("raw", key).then((bytes) => Buffer.from(bytes).toString("base64url"))

const storedPrivate = (key: CryptoKey) =>
  crypto.subtle.exportKey("pkcs8", key).then((bytes) => Redacted.make(new Uint8Array(bytes)))

const isPair = (made: CryptoKey | CryptoKeyPair): made is CryptoKeyPair => "publicKey" in made

const pairOf = (name: "Ed25519" | "X25519", usages: ReadonlyArray<KeyUsage>) =>
  crypto.subtle.generateKey({ name }, true, [...usages]).then((made) => {
    if (!isPair(made)) throw new Error(`${name} makes a pair of keys`)
    return made
  })

/** Creates keys. Store them before use. */
export const newKeys: Effect.Effect<StoredKeys> = Effect.gen(function* () {
  const madeAt = DateTime.formatIso(yield* DateTime.now)
  return yield* Effect.promise(async () => {
    const [sign, seal] = await Promise.all([pairOf("Ed25519", ["sign", "verify"]), pairOf("X25519", ["deriveBits"])])
    return {
      version: 1 as const,
      sign: await storedPrivate(sign.privateKey),
      seal: await storedPrivate(seal.privateKey),
      public: { sign: await rawPublic(sign.publicKey), seal: await rawPublic(seal.publicKey) },
      madeAt
    }
  })
})

const bytesOf = (key: StoredKeys["sign"]) => new Uint8Array(Redacted.value(key))

/** Signs with Ed25519. Returns the signature in base64url. The key cannot be exported from memory. */
export const signedBy = ({ sign }: Signer, text: string): Effect.Effect<string> =>
  Effect.promise(async () => {
    const key = await crypto.subtle.importKey("pkcs8", bytesOf(sign), "Ed25519", false, ["sign"])
    return Buffer.from(await crypto.subtle.sign("Ed25519", key, new TextEncoder().encode(text))).toString("base64url")
  })

/** Returns the keys that open messages for this agent: the current key, then previous keys. */
export const openingKeys = ({ former = [], seal }: StoredKeys): Effect.Effect<ReadonlyArray<CryptoKey>> =>
  Effect.promise(() =>
    Promise.all(
      [seal, ...former].map((key) => crypto.subtle.importKey("pkcs8", bytesOf(key), "X25519", false, ["deriveBits"]))
    )
  )

const fromBase64Url = (encoded: string) => new Uint8Array(Buffer.from(encoded, "base64url"))

/** Imports a public Ed25519 key from its raw bytes in base64url. */
export const verifyingKey = (raw: string): Effect.Effect<CryptoKey> =>
  Effect.promise(() => crypto.subtle.importKey("raw", fromBase64Url(raw), "Ed25519", false, ["verify"]))

/** Returns true if the holder of an Ed25519 key signed this text. */
export const isSignedWith = (key: CryptoKey, text: string, signature: string): Effect.Effect<boolean> =>
  Effect.promise(() => crypto.subtle.verify("Ed25519", key, fromBase64Url(signature), new TextEncoder().encode(text)))

/** Like `isSignedWith`, but takes the key as raw bytes in base64url. */
export const isSignedBy = (raw: string, text: string, signature: string): Effect.Effect<boolean> =>
  Effect.flatMap(verifyingKey(raw), (key) => isSignedWith(key, text, signature))

/** Imports a public X25519 key from its raw bytes in base64url. */
export const sealingKey = (raw: string): Effect.Effect<CryptoKey> =>
  Effect.promise(() => crypto.subtle.importKey("raw", fromBase64Url(raw), "X25519", false, []))
