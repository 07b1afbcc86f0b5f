import { Clock, Effect } from "effect"
import { ToolDownloadFailed } from "./ToolErrors.ts"

const keyRemedy =
  "Set SVC_TOOL_MIRROR_KEY to the release signing key (for the official releases: get.opentofu.org/opentofu.asc), or to the path of its file."

// A megabyte of code that only a download needs, so it is loaded then.
const openpgp = Effect.promise(() => import("openpgp"))

/** Armored text or the bytes of a key, and the fingerprint that it must have when it does not come from the operator. */
export interface TrustedKey {
  readonly material: string | Uint8Array
  readonly fingerprint: string | undefined
}

/** Armored text or the bytes of a key file, to public keys. Fails with `ToolDownloadFailed` "key". */
const decodeKeys = Effect.fnUntraced(function* (material: string | Uint8Array) {
  const { readKeys } = yield* openpgp
  return yield* Effect.tryPromise({
    try: () => {
      const text = typeof material === "string" ? material : new TextDecoder().decode(material)
      if (text.includes("-----BEGIN PGP PUBLIC KEY BLOCK-----")) return readKeys({ armoredKeys: text })
      return readKeys({ binaryKeys: typeof material === "string" ? new TextEncoder().encode(material) : material })
    },
    catch: () =>
      new ToolDownloadFailed({
        reason: "key",
        message: "The trusted key for tool downloads is not an OpenPGP public key.",
        remedy: keyRemedy
      })
  })
})

/**
 * Verifies a detached OpenPGP signature over the content and returns the fingerprint of the key that made it. Fails
 * with `ToolDownloadFailed`: "key" when the trusted key cannot be read, "signature" when the signature does not hold.
 */
export const verifySignature = Effect.fn("ReleaseSignature.verify")(function* (
  content: Uint8Array,
  signature: Uint8Array,
  trusted: TrustedKey
) {
  const given = yield* decodeKeys(trusted.material)
  const { fingerprint } = trusted
  const keys =
    fingerprint === undefined ? given : given.filter((key) => key.getFingerprint().toUpperCase() === fingerprint)
  if (keys.length === 0) {
    return yield* new ToolDownloadFailed({
      reason: "key",
      message: `The key that was fetched is not the one with the fingerprint ${fingerprint}.`,
      remedy: `Do not use this mirror until you know why. ${keyRemedy}`
    })
  }
  const { createMessage, readSignature, verify } = yield* openpgp
  const now = yield* Clock.currentTimeMillis
  const refuse = () =>
    new ToolDownloadFailed({
      reason: "signature",
      message: "The signature over the checksums of the release was not made by the trusted key, or they were changed.",
      remedy: "Do not use this mirror until you know why. The key that is trusted is set by SVC_TOOL_MIRROR_KEY."
    })
  return yield* Effect.tryPromise({
    try: async () => {
      const verified = await verify({
        message: await createMessage({ binary: content }),
        signature: await readSignature({ binarySignature: signature }),
        verificationKeys: keys,
        expectSigned: true,
        format: "binary",
        date: new Date(now)
      })
      for (const made of verified.signatures) {
        const holds = await made.verified.catch(() => false)
        const key = keys.find((candidate) => candidate.getKeys(made.keyID).length > 0)
        if (holds && key !== undefined) return key.getFingerprint().toUpperCase()
      }
      throw refuse()
    },
    catch: refuse
  })
})
