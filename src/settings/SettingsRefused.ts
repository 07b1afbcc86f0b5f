import { Schema } from "effect"

/** A setting is invalid. The message contains its name and its source, but never the value of a secret. */
export class SettingsRefused extends Schema.TaggedError<SettingsRefused>()("SettingsRefused", {
  message: Schema.String
}) {}
