import { Schema } from "effect"

/** A secret that is text, as it is kept for later Runs, with the public name of where it comes from. */
export const SecretText = Schema.Struct({ origin: Schema.String, value: Schema.RedactedFromValue(Schema.String) })
export type SecretText = typeof SecretText.Type
