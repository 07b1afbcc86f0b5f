import { Schema } from "effect"

/** A setting is not valid. The message contains its name and its source, never the value of a secret one. */
export class SettingsRefused extends Schema.TaggedError<SettingsRefused>()("SettingsRefused", {
  message: Schema.String
}) {}
