import { Clock, Effect, Result } from "effect"
import {
  holds,
  names,
  type OpenPgpRefused,
  readArmoredKeys,
  readKeyring,
  readPackets,
  readSignature,
  refuse,
  signatureTypes
} from "./OpenPgp.ts"
import { ToolDownloadFailed } from "./ToolErrors.ts"

const keyRemedy =
  "Set SVC_TOOL_MIRROR_KEY to the release signing key (for the official releases: get.opentofu.org/opentofu.asc), or to the path of its file."

const signatureTag = 2

/**
 * A key as armored text or bytes, and the fingerprint that the key must have. `fingerprint` is absent if the operator
 * configured the key.
 */
export interface TrustedKey {
  readonly material: string | Uint8Array
  readonly fingerprint: string | undefined
}

/** Decodes the usable keys in armored text or in a key file. Fails with `ToolDownloadFailed` "key". */
const decodeKeys = (material: string | Uint8Array, now: number) =>
  Result.gen(function* () {
    const text = typeof material === "string" ? material : new TextDecoder().decode(material)
    const isArmored = typeof material === "string" || text.includes("-----BEGIN PGP")
    return yield* readKeyring(yield* readPackets(isArmored ? yield* readArmoredKeys(text) : material), now)
  }).pipe(
    Effect.fromResult,
    Effect.mapError(
      ({ message }) =>
        new ToolDownloadFailed({
          reason: "key",
          message: `The trusted key for tool downloads is not an OpenPGP public key that may be used: ${message}`,
          remedy: `It has to be an RSA or Ed25519 key that is neither expired nor revoked. ${keyRemedy}`
        })
    )
  )

/** Returns the signature in a detached signature file, which must contain exactly one signature. */
const detachedSignature = (octets: Uint8Array) =>
  Result.gen(function* () {
    const [packet, ...others] = yield* readPackets(octets)
    if (packet?.tag !== signatureTag || others.length > 0) return yield* refuse("It is not exactly one signature.")
    const signature = yield* readSignature(packet.body)
    return signature.type === signatureTypes.binary ? signature : yield* refuse("It is not over binary data.")
  })

/**
 * Verifies a detached OpenPGP signature over the content, and returns the fingerprint of the key that created the signature.
 * Fails with `ToolDownloadFailed`: "key" if the trusted key cannot be used, "signature" if the signature does not verify.
 */
export const verifySignature = Effect.fn("ReleaseSignature.verify")(function* (
  content: Uint8Array,
  signature: Uint8Array,
  trusted: TrustedKey
) {
  const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
  const given = yield* decodeKeys(trusted.material, now)
  const { fingerprint } = trusted
  const keys = fingerprint === undefined ? given : given.filter((key) => key.fingerprint === fingerprint)
  if (keys.length === 0) {
    return yield* new ToolDownloadFailed({
      reason: "key",
      message: `The key that was fetched is not the one with the fingerprint ${fingerprint}.`,
      remedy: `Do not use this mirror until you know why. ${keyRemedy}`
    })
  }
  const signers = keys.flatMap((key) => key.signers.map((signer) => ({ signer, fingerprint: key.fingerprint })))
  const verified: Result.Result<string, OpenPgpRefused> = Result.gen(function* () {
    const made = yield* detachedSignature(signature)
    const by = signers.find(({ signer }) => names(made, signer))
    if (by === undefined) return yield* refuse("It was made with a key that may not sign here.")
    yield* holds(made, by.signer, content, now)
    return by.fingerprint
  })
  return yield* Effect.fromResult(verified).pipe(
    Effect.mapError(
      ({ message }) =>
        new ToolDownloadFailed({
          reason: "signature",
          message: `The signature over the checksums of the release was not made by the trusted key, or they were changed: ${message}`,
          remedy: "Do not use this mirror until you know why. The key that is trusted is set by SVC_TOOL_MIRROR_KEY."
        })
    )
  )
})
