import { Schema } from "effect"
import { CapsuleId, RunId, StateVersionId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { jsonText } from "../../base/database/StoredRecord.ts"
import { Flag, type RowOf, table } from "../../base/database/Table.ts"

/** StateVersions that have been read. Each Capsule's StateVersions are read in the order of their generations. */
export const StateIndexRow = table("state_indexes", {
  state_version_id: StateVersionId,
  capsule_id: CapsuleId,
  generation: Schema.Int,
  /**
   * - `unreadable`: the tool encrypted it, or it cannot be opened
   * - `unchecked`: read by an earlier release, which did not hide secret instance keys, so it may not be shown yet
   */
  outcome: Schema.Literals(["indexed", "unreadable", "unchecked"])
})

/** Digests of attributes, by attribute name. */
export const AttributesJson = jsonText(Schema.Record(Schema.String, Schema.String))

const versionColumns = {
  workspace_id: WorkspaceId,
  capsule_id: CapsuleId,
  /** Keyed. */
  digest: Schema.String,
  /** The first generation of this version. */
  valid_from: Schema.Int,
  /** The first later generation with a different version; `NULL` if none exists yet. */
  valid_to: Schema.NullOr(Schema.Int),
  /** The Run that created this version. */
  run_id: RunId,
  changed_at: Timestamp,
  /** The Run that replaced or removed this version. */
  ended_by_run_id: Schema.NullOr(RunId)
}

/** Instances of managed resources, by generation range. */
export const ResourceVersionRow = table(
  "resource_versions",
  {
    ...versionColumns,
    /** In displayed form: a secret instance key is hidden. */
    address: Schema.String,
    deposed: Schema.String,
    type: Schema.String,
    provider: Schema.String,
    /** `NULL` where it is, or may be, a secret. */
    object_id: Schema.NullOr(Schema.String),
    /** Keyed digest of the real object's identity in the Workspace; `NULL` if it has none. */
    object_key: Schema.NullOr(Schema.String),
    attributes: AttributesJson,
    /** The object's first address, if it has moved since; unique in its Capsule. */
    origin: Schema.NullOr(Schema.String),
    tainted: Flag
  },
  ["tainted"]
)
export type ResourceVersionRow = RowOf<typeof ResourceVersionRow.columns>

/** Outputs of the tool's state, by generation range. */
export const OutputVersionRow = table("output_versions", { ...versionColumns, name: Schema.String })
export type OutputVersionRow = RowOf<typeof OutputVersionRow.columns>

/** The name of an object for as long as it exists, wherever it moves. */
export const originOf = ({ address, origin }: Pick<ResourceVersionRow, "address" | "origin">): string =>
  origin ?? address

/** SQL: whether the StateVersion `version` contains the object in row `row`. */
export const heldByVersion = (row: string, version: string): string =>
  `${row}.capsule_id = ${version}.capsule_id AND ${row}.valid_from <= ${version}.generation
    AND (${row}.valid_to IS NULL OR ${row}.valid_to > ${version}.generation)`
