import { Schema } from "effect"
import { CapsuleId, RunId, StateVersionId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { jsonText } from "../../base/database/StoredRecord.ts"
import { Flag, type RowOf, table } from "../../base/database/Table.ts"

/** StateVersions that have been indexed, in the order of their generations. */
export const StateIndexRow = table("state_indexes", {
  state_version_id: StateVersionId,
  capsule_id: CapsuleId,
  generation: Schema.Int,
  /**
   * - `unreadable`: the tool encrypted the state, or svc cannot decrypt it
   * - `unchecked`: indexed by an earlier release that did not hide secret instance keys, so it is not shown yet
   */
  outcome: Schema.Literals(["indexed", "unreadable", "unchecked"])
})

/** Digests of attributes, keyed by attribute name. */
export const AttributesJson = jsonText(Schema.Record(Schema.String, Schema.String))

const versionColumns = {
  workspace_id: WorkspaceId,
  capsule_id: CapsuleId,
  /** Keyed. */
  digest: Schema.String,
  /** The first generation that contains this version. */
  valid_from: Schema.Int,
  /** The first later generation that no longer contains this version; `NULL` while this version is current. */
  valid_to: Schema.NullOr(Schema.Int),
  /** The Run that created the version. */
  run_id: RunId,
  changed_at: Timestamp,
  /** The Run that replaced or removed the version. */
  ended_by_run_id: Schema.NullOr(RunId)
}

/** Instances of managed resources, each valid for a range of generations. */
export const ResourceVersionRow = table(
  "resource_versions",
  {
    ...versionColumns,
    /** The displayed address, with secret instance keys hidden. */
    address: Schema.String,
    deposed: Schema.String,
    type: Schema.String,
    provider: Schema.String,
    /** `NULL` if the id is or may be a secret. */
    object_id: Schema.NullOr(Schema.String),
    /** Keyed digest that identifies the real object in the Workspace; `NULL` if the resource is not a real object. */
    object_key: Schema.NullOr(Schema.String),
    attributes: AttributesJson,
    /** The object's first address, if the object has moved. It is unique in the Capsule. */
    origin: Schema.NullOr(Schema.String),
    tainted: Flag
  },
  ["tainted"]
)
export type ResourceVersionRow = RowOf<typeof ResourceVersionRow.columns>

/** Outputs of the state, each valid for a range of generations. */
export const OutputVersionRow = table("output_versions", { ...versionColumns, name: Schema.String })
export type OutputVersionRow = RowOf<typeof OutputVersionRow.columns>

/** Returns the permanent name of an object, which stays the same when the object moves. */
export const originOf = ({ address, origin }: Pick<ResourceVersionRow, "address" | "origin">): string =>
  origin ?? address

/** SQL condition that is true if the StateVersion `version` contains the object of the row `row`. */
export const heldByVersion = (row: string, version: string): string =>
  `${row}.capsule_id = ${version}.capsule_id AND ${row}.valid_from <= ${version}.generation
    AND (${row}.valid_to IS NULL OR ${row}.valid_to > ${version}.generation)`
