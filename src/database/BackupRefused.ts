import { Schema } from "effect"

/** A backup could not be written, or cannot be restored. Nothing was changed. */
export class BackupRefused extends Schema.TaggedError<BackupRefused>()("BackupRefused", { message: Schema.String }) {}
