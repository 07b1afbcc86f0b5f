import { Schema } from "effect"

/** Raised if a backup cannot be written or restored. Nothing was changed. */
export class BackupRefused extends Schema.TaggedError<BackupRefused>()("BackupRefused", { message: Schema.String }) {}
