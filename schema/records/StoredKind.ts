import { Schema } from "effect"

/** What takes up space in an installation, as `/metrics` and a Workspace's usage name it. */
export const StoredKind = Schema.Literals(["logs", "events", "plans", "states", "snapshots", "backups", "history"])
export type StoredKind = typeof StoredKind.Type
