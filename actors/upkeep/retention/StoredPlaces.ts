import type { StoredKind } from "../../../schema/records/StoredKind.ts"
import { bytesOf, bytesWithParts } from "./ColumnBytes.ts"

/** A table, or a set of archives, that stores the bytes of one kind of data. */
export interface StoredPlace {
  readonly kind: StoredKind
  readonly table: string
  /** SQL for the primary key, which consists of an id and a number. It is used to read the rows in batches. */
  readonly firstKey: string
  readonly secondKey?: string
  /** SQL for the Workspace of the row `r`; null if it belongs to no Workspace. */
  readonly workspace: string
  /** SQL for the size of the row `r` in bytes. */
  readonly bytes: string
}

const ofRun = "(SELECT n.workspace_id FROM runs n WHERE n.id = r.run_id)"

/** All data whose size grows over the years. */
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
