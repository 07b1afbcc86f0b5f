import { Schema } from "effect"

/**
 * Raised if a setting is invalid. The message contains the name and the source of the setting, but never the value of a
 * secret.
 */
export class SettingsRefused extends Schema.TaggedError<SettingsRefused>()("SettingsRefused", {
  message: Schema.String
}) {}
