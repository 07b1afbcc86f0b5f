import { Schema } from "effect"
import type { RetainedKindName } from "../../../schema/records/Retention.ts"

/** Reasons for keeping a record although its period has expired. */
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

/** A reason for keeping a record, as an SQL condition on it; its alias is `r`. */
export interface KeepRule {
  readonly reason: KeepReason
  readonly when: string
}

/** Rows of another table that are removed with the record, before it. */
export interface Part {
  readonly table: string
  /** The column that contains the id of the record. */
  readonly of: string
  /** Its primary key. */
  readonly key: ReadonlyArray<string>
  /** SQL over its columns; the table has no alias. */
  readonly bytes: string
}

/** Rows of another table that several records share. They are removed with the last of these records. */
export interface SharedPart {
  readonly table: string
  readonly key: ReadonlyArray<string>
  /** SQL: true if the row `p` belongs to the record `r`. */
  readonly when: string
}

/**
 * A kind of record that is removed once its period has expired and nothing needs it. The removal statements are built from this.
 */
export interface RetainedKind {
  readonly name: RetainedKindName
  readonly table: string
  /** True if the record itself is kept, and only its parts are removed. */
  readonly staysItself?: boolean
  /** The column with the start of its period. */
  readonly since: string
  /** SQL: which records of the table are of this kind; all of them if absent. */
  readonly among?: string
  /** SQL: its Workspace. */
  readonly workspace: string
  /** SQL: its own size in bytes, without its parts. */
  readonly bytes: string
  readonly parts: ReadonlyArray<Part>
  readonly sharedParts?: ReadonlyArray<SharedPart>
  /** In the order in which the survey reports them: the first reason that applies is reported. */
  readonly needs: ReadonlyArray<KeepRule>
}
