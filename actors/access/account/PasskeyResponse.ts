import { Schema } from "effect"

const Bytes = Schema.String.check(
  Schema.isMaxLength(16_384),
  Schema.isPattern(/^[A-Za-z0-9_-]+$/, { description: "bytes as base64url" })
)

const envelope = {
  id: Bytes,
  rawId: Bytes,
  type: Schema.Literal("public-key"),
  authenticatorAttachment: Schema.optionalKey(Schema.Literals(["platform", "cross-platform"]))
}

/** A browser's response after creating a passkey. Drops members that are not needed, including extensions. */
export const PasskeyRegistration = Schema.Struct({
  ...envelope,
  response: Schema.Struct({
    clientDataJSON: Bytes,
    attestationObject: Bytes,
    transports: Schema.optionalKey(
      Schema.mutable(Schema.Array(Schema.String.check(Schema.isMaxLength(32)))).check(Schema.isMaxLength(8))
    )
  })
})
export type PasskeyRegistration = typeof PasskeyRegistration.Type

/** A browser's response after using a passkey. */
export const PasskeyAssertion = Schema.Struct({
  ...envelope,
  response: Schema.Struct({
    clientDataJSON: Bytes,
    authenticatorData: Bytes,
    signature: Bytes,
    userHandle: Schema.optionalKey(Bytes)
  })
})
export type PasskeyAssertion = typeof PasskeyAssertion.Type
