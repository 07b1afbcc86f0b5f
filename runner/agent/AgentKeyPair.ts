import { Effect, Redacted, Schema } from "effect"
import type { AgentKeys } from "../../schema/agent/AgentIdentity.ts"

/** Private keys as they are kept in a file that nobody but the agent can read: PKCS #8, in base64. */
export const StoredKeys = Schema.Struct({
  version: Schema.Literal(1),
  sign: Schema.RedactedFromValue(Schema.Uint8ArrayFromBase64),
  seal: Schema.RedactedFromValue(Schema.Uint8ArrayFromBase64),
  public: Schema.Struct({ sign: Schema.String, seal: Schema.String })
})
export type StoredKeys = typeof StoredKeys.Type

/** The keys of this agent; the private ones cannot be exported from memory. */
export interface AgentKeyPair {
  readonly public: AgentKeys
  /** Signs with Ed25519; the signature in base64url. */
  readonly sign: (text: string) => Effect.Effect<string>
  /** Opens what was sealed for this agent. */
  readonly open: CryptoKey
}

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

/** Makes new keys, to be stored before they are used. */
export const newKeys: Effect.Effect<StoredKeys> = Effect.promise(async () => {
  const [sign, seal] = await Promise.all([pairOf("Ed25519", ["sign", "verify"]), pairOf("X25519", ["deriveBits"])])
  return {
    version: 1,
    sign: await storedPrivate(sign.privateKey),
    seal: await storedPrivate(seal.privateKey),
    public: { sign: await rawPublic(sign.publicKey), seal: await rawPublic(seal.publicKey) }
  } as const
})

export const usableKeys = (stored: StoredKeys): Effect.Effect<AgentKeyPair> =>
  Effect.promise(async () => {
    const bytes = (key: StoredKeys["sign"]) => new Uint8Array(Redacted.value(key))
    const sign = await crypto.subtle.importKey("pkcs8", bytes(stored.sign), "Ed25519", false, ["sign"])
    const open = await crypto.subtle.importKey("pkcs8", bytes(stored.seal), "X25519", false, ["deriveBits"])
    return {
      public: stored.public,
      open,
      sign: (text: string) =>
        Effect.promise(() => crypto.subtle.sign("Ed25519", sign, new TextEncoder().encode(text))).pipe(
          Effect.map((signature) => Buffer.from(signature).toString("base64url"))
        )
    }
  })

/** Whether the holder of an Ed25519 key, given as its raw bytes in base64url, signed this text. */
export const isSignedBy = (raw: string, text: string, signature: string): Effect.Effect<boolean> =>
  Effect.promise(async () => {
    const bytes = (encoded: string) => new Uint8Array(Buffer.from(encoded, "base64url"))
    const key = await crypto.subtle.importKey("raw", bytes(raw), "Ed25519", false, ["verify"])
    return crypto.subtle.verify("Ed25519", key, bytes(signature), new TextEncoder().encode(text))
  })

/** A public X25519 key to seal for, from its raw bytes in base64url. */
export const sealingKey = (raw: string): Effect.Effect<CryptoKey> =>
  Effect.promise(() =>
    crypto.subtle.importKey("raw", new Uint8Array(Buffer.from(raw, "base64url")), "X25519", false, [])
  )
