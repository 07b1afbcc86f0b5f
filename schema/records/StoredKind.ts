import { Schema } from "effect"

/** Kinds of stored data, under the names used by `/metrics` and by a Workspace's usage. */
export const StoredKind = Schema.Literals(["logs", "events", "plans", "states", "snapshots", "backups", "history"])
export type StoredKind = typeof StoredKind.Type
