import type { StoredKind } from "../../../schema/records/StoredKind.ts"
import { bytesOf, bytesWithParts } from "./ColumnBytes.ts"

/** The place in which the bytes of one kind are stored. */
export interface StoredPlace {
  readonly kind: StoredKind
  readonly table: string
  /** SQL: its primary key, which is used to read it in parts: an id, and a number within it. */
  readonly firstKey: string
  readonly secondKey?: string
  /** SQL over the row `r`: its Workspace, or null without a Workspace. */
  readonly workspace: string
  /** SQL over the row `r`. */
  readonly bytes: string
}

const ofRun = "(SELECT n.workspace_id FROM runs n WHERE n.id = r.run_id)"

/** Everything that grows over the years. */
export const storedPlaces: ReadonlyArray<StoredPlace> = [
  {
    kind: "logs",
    table: "run_log_chunks",
    firstKey: "r.run_id",
    secondKey: "r.first_seq",
    workspace: ofRun,
    bytes: "r.bytes"
  },
  {
    kind: "events",
    table: "run_events",
    firstKey: "r.run_id",
    secondKey: "r.seq",
    workspace: ofRun,
    bytes: bytesOf("r.data")
  },
  {
    kind: "plans",
    table: "run_plans",
    firstKey: "r.run_id",
    workspace: ofRun,
    bytes: `${bytesWithParts("r.plan_file")} + ${bytesOf("r.lock_text", "r.sealed_secrets")}`
  },
  {
    kind: "states",
    table: "state_versions",
    firstKey: "r.id",
    workspace: "r.workspace_id",
    bytes: bytesWithParts("r.state")
  },
  {
    kind: "states",
    table: "left_over_states",
    firstKey: "r.id",
    workspace: "r.workspace_id",
    bytes: bytesWithParts("r.state")
  },
  {
    kind: "snapshots",
    table: "source_snapshots",
    firstKey: "r.id",
    workspace: "r.workspace_id",
    // Snapshots with equal content share one archive.
    bytes: `CASE WHEN EXISTS (SELECT 1 FROM source_snapshots n WHERE n.archive_digest = r.archive_digest AND n.id < r.id)
      THEN 0 ELSE r.archive_size_bytes END`
  },
  { kind: "backups", table: "backups", firstKey: "r.id", workspace: "r.workspace_id", bytes: bytesOf("r.archive") },
  { kind: "history", table: "audit_events", firstKey: "r.id", workspace: "r.workspace_id", bytes: bytesOf("r.data") }
]
