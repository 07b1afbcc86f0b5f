import { Effect, Schema } from "effect"
import { CompactEncrypt, compactDecrypt } from "jose"

/**
 * The purpose of a sealed message. It is authenticated with the contents, so that a message cannot be used for another
 * agent, Run or fence.
 *
 * - `from`, `to`: an agent id, or `server:` followed by the installation's id
 */
export const SealedFor = Schema.Struct({
  from: Schema.String,
  to: Schema.String,
  runId: Schema.String,
  fence: Schema.Int,
  kind: Schema.String
})
export type SealedFor = typeof SealedFor.Type

/** The contents were not sealed for this key and purpose, or were changed. */
export class NotSealedForThis extends Schema.TaggedError<NotSealedForThis>()("NotSealedForThis", {
  message: Schema.String
}) {}

const purposeOf = (purpose: SealedFor): string =>
  JSON.stringify([purpose.from, purpose.to, purpose.runId, purpose.fence, purpose.kind])

const notForThis = () =>
  new NotSealedForThis({ message: "The sealed message is damaged, or was made for another agent, Run or purpose." })

/** Seals bytes for the holder of an X25519 key: JWE with ECDH-ES and A256GCM, and the purpose in the protected header. */
export const sealFor = (key: CryptoKey, purpose: SealedFor, contents: Uint8Array): Effect.Effect<string> =>
  Effect.promise(() =>
    new CompactEncrypt(contents)
      .setProtectedHeader({ alg: "ECDH-ES", enc: "A256GCM", svc: purposeOf(purpose) })
      .encrypt(key)
  )

/** The key that opens a message, or several candidate keys. */
export type OpeningKeys = CryptoKey | ReadonlyArray<CryptoKey>

const isOne = (keys: OpeningKeys): keys is CryptoKey => "algorithm" in keys

const openedBy = (key: CryptoKey, purpose: SealedFor, sealed: string): Effect.Effect<Uint8Array, NotSealedForThis> =>
  Effect.tryPromise({
    try: () =>
      compactDecrypt(sealed, key, { keyManagementAlgorithms: ["ECDH-ES"], contentEncryptionAlgorithms: ["A256GCM"] }),
    catch: notForThis
  }).pipe(
    Effect.filterOrFail(({ protectedHeader }) => protectedHeader["svc"] === purposeOf(purpose), notForThis),
    Effect.map(({ plaintext }) => plaintext)
  )

/** Opens a message that `sealFor` sealed for one of these keys and this exact purpose. */
export const openSealed = (
  keys: OpeningKeys,
  purpose: SealedFor,
  sealed: string
): Effect.Effect<Uint8Array, NotSealedForThis> =>
  (isOne(keys) ? [keys] : keys).reduce(
    (tried: Effect.Effect<Uint8Array, NotSealedForThis>, key) =>
      Effect.catch(tried, () => openedBy(key, purpose, sealed)),
    Effect.fail(notForThis())
  )
