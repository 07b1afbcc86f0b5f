import { Schema } from "effect"

/** A setting is not valid. The message names it and its source, never the value of a secret one. */
export class SettingsRefused extends Schema.TaggedError<SettingsRefused>()("SettingsRefused", {
  message: Schema.String
}) {}
