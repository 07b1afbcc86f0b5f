import { Schema, SchemaTransformation } from "effect"

/**
 * An e-mail address as accounts are found by it: lower case, NFC. Only its outline is checked; whether it reaches anybody
 * is for nobody to tell.
 */
export const EmailAddress = Schema.String.pipe(
  Schema.decodeTo(
    Schema.String.check(
      Schema.isMaxLength(254),
      Schema.isPattern(/^[^\s@\p{Cc}]{1,64}@[^\s@\p{Cc}]{1,189}$/u, { description: "an e-mail address" })
    ),
    SchemaTransformation.transform({
      decode: (text) => text.trim().normalize("NFC").toLowerCase(),
      encode: (text) => text
    })
  )
)
