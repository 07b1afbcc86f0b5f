import { Schema } from "effect"

/** The environment of a Capsule. */
export const EnvironmentName = Schema.String.check(
  Schema.isPattern(/^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/, { description: "1 to 40 of a-z, 0-9 and -" })
)
