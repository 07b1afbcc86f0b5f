import { Schema } from "effect"
import type { RetainedKindName } from "../../../schema/records/Retention.ts"

/** Reasons for keeping a record although its retention period has ended. */
export const KeepReason = Schema.Literals([
  "open",
  "open_plan",
  "newest",
  "log",
  "state",
  "current_state",
  "rollback_target",
  "left_over_state",
  "backup",
  "living_capsule",
  "lane",
  "decision",
  "report",
  "snapshot",
  "run",
  "apply",
  "pin",
  "run_group",
  "install_plan",
  "revision_plan",
  "interface",
  "connection",
  "receipt"
])
export type KeepReason = typeof KeepReason.Type

/** An SQL condition on the record `r`, and the reason why records that match are kept. */
export interface KeepRule {
  readonly reason: KeepReason
  readonly when: string
}

/** Rows of another table that are removed before the record. */
export interface Part {
  readonly table: string
  /** The column that contains the id of the record. */
  readonly of: string
  /** The primary key of the table. */
  readonly key: ReadonlyArray<string>
  /** SQL for the size of a row in bytes. It must not use a table alias. */
  readonly bytes: string
}

/** Rows in another table that several records share. A shared row is removed along with the last record that uses it. */
export interface SharedPart {
  readonly table: string
  readonly key: ReadonlyArray<string>
  /** SQL condition that is true if the row `p` belongs to the record `r`. */
  readonly when: string
}

/**
 * A kind of record that is removed once its retention period has ended and no other record needs it. The SQL statements for
 * the removal are built from this description.
 */
export interface RetainedKind {
  readonly name: RetainedKindName
  readonly table: string
  /** True if only the parts are removed and the record is kept. */
  readonly staysItself?: boolean
  /** The column that contains the start of the retention period. */
  readonly since: string
  /** SQL condition that selects the records of this kind; absent if every row is a record of this kind. */
  readonly among?: string
  /** SQL for the Workspace of the record. */
  readonly workspace: string
  /** SQL for the size of the record in bytes, without its parts. */
  readonly bytes: string
  readonly parts: ReadonlyArray<Part>
  readonly sharedParts?: ReadonlyArray<SharedPart>
  /** Reasons to keep a record, in the order in which they are checked. The survey reports the first reason that applies. */
  readonly needs: ReadonlyArray<KeepRule>
}
