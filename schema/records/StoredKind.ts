import { Schema } from "effect"

/** What takes up space in an installation, under the names used by `/metrics` and by a Workspace's usage. */
export const StoredKind = Schema.Literals(["logs", "events", "plans", "states", "snapshots", "backups", "history"])
export type StoredKind = typeof StoredKind.Type
