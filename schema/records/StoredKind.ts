import { Schema } from "effect"

/** The kinds of stored data, as used in `/metrics` and in the usage of a Workspace. */
export const StoredKind = Schema.Literals(["logs", "events", "plans", "states", "snapshots", "backups", "history"])
export type StoredKind = typeof StoredKind.Type
