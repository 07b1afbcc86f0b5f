import { Schema, SchemaTransformation } from "effect"

/**
 * An e-mail address in the form used for lookup: lower case, NFC. Only its general form is checked; whether it can receive
 * mail is unknown.
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
