import { Schema } from "effect"

/** A secret as stored for later Runs, with the public name of its origin. */
export const SecretText = Schema.Struct({ origin: Schema.String, value: Schema.RedactedFromValue(Schema.String) })
export type SecretText = typeof SecretText.Type
