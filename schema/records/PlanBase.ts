import { Schema } from "effect"

/** Maximum number of files to list. */
export const mostUndoneFiles = 20

/**
 * The position of a plan's ref relative to its base.
 * - `current`: the ref contains the newest commit of the base
 * - `behind`: the base has newer commits, but the ref contains all of their changes to files of the module
 * - `stale`: the base has changed files of the module, and the plan would undo these changes
 * - `unknown`: the commits could not be compared
 */
export const BaseStanding = Schema.Literals(["current", "behind", "stale", "unknown"])
export type BaseStanding = typeof BaseStanding.Type

/** The lane into which the ref of a plan would be merged. */
export class PlanBase extends Schema.Opaque<PlanBase>()(
  Schema.Struct({
    ref: Schema.String,
    /** The newest commit of the lane that svc knew when it made the plan. */
    resolvedCommit: Schema.String,
    standing: BaseStanding,
    /** The commit at which the ref branched off from the base. */
    mergeBase: Schema.optionalKey(Schema.String),
    /** Number of base commits that the ref does not contain. Absent if the number exceeds svc's limit. */
    behind: Schema.optionalKey(Schema.Int),
    /** The first few files whose newer contents the plan would overwrite. Set only for `stale`. */
    undoneFiles: Schema.optionalKey(Schema.Array(Schema.String)),
    undoneFileCount: Schema.optionalKey(Schema.Int)
  }).annotate({ identifier: "PlanBase" })
) {}
