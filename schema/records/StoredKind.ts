import { Schema } from "effect"

/** What takes up the space of an installation, as `/metrics` and the usage of a Workspace name it. */
export const StoredKind = Schema.Literals(["logs", "events", "plans", "states", "snapshots", "backups", "history"])
export type StoredKind = typeof StoredKind.Type
