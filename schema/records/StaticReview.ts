import { Schema } from "effect"
import { Finding } from "./CompatibilityReport.ts"
import { CommitId, Timestamp } from "./Primitives.ts"

/** Maximum number of entries in a list of a review. `more` is the number of omitted entries. */
export const mostReviewItems = 100

/** A block of the configuration, such as the resource `aws_vpc.main`, and its position in the files. */
export const ReviewItem = Schema.Struct({ name: Schema.String, path: Schema.String, line: Schema.Int })
export type ReviewItem = typeof ReviewItem.Type

/** The blocks that exist in only one of the two commits. */
export const ReviewChanges = Schema.Struct({
  added: Schema.Array(ReviewItem),
  removed: Schema.Array(ReviewItem),
  more: Schema.Int
})
export type ReviewChanges = typeof ReviewChanges.Type

/** The files of a module and of the local modules that it calls. */
const FileChanges = Schema.Struct({
  added: Schema.Array(Schema.String),
  changed: Schema.Array(Schema.String),
  removed: Schema.Array(Schema.String),
  more: Schema.Int
})

/** The result of a check by the tool. If the result is `not_run`, it contains the reason. */
const ToolCheck = Schema.Struct({
  status: Schema.Literals(["passed", "failed", "not_run"]),
  reason: Schema.optionalKey(Schema.String),
  /** The messages of a failed validation, or the files that the tool would format differently. */
  details: Schema.optionalKey(Schema.Array(Schema.String))
})
export type ToolCheck = typeof ToolCheck.Type

/**
 * The changes that the head of a pull request makes to one module. svc only read the files and executed no code of the module.
 *
 * - `status`: `absent` if the head has no such module, `unsupported` if svc cannot install it
 * - `runsCode`: the head's provisioners, and its data sources and actions that run a program or call an address; `more` also
 *   counts the omitted entries of `present`
 * - `unread`: configuration files that the review could not read; its lists are then incomplete
 */
export const ModuleReview = Schema.Struct({
  path: Schema.String,
  status: Schema.Literals(["supported", "unsupported", "absent"]),
  files: FileChanges,
  resources: ReviewChanges,
  dataSources: ReviewChanges,
  moduleCalls: ReviewChanges,
  providers: ReviewChanges,
  inputs: ReviewChanges,
  outputs: ReviewChanges,
  runsCode: Schema.Struct({ ...ReviewChanges.fields, present: Schema.Array(ReviewItem) }),
  lockFile: Schema.Literals(["absent", "unchanged", "added", "changed", "removed"]),
  unread: Schema.Array(Schema.String),
  findings: Schema.Array(Finding),
  validation: ToolCheck,
  formatting: ToolCheck
})
export type ModuleReview = typeof ModuleReview.Type

/**
 * The review of a head, made without network access, credentials, inputs or state. `baseCommit` is the newest commit of the
 * base that svc found in the head's history, or else the base's current commit.
 */
export class StaticReview extends Schema.Opaque<StaticReview>()(
  Schema.Struct({
    commit: CommitId,
    baseCommit: CommitId,
    at: Timestamp,
    /** The modules of the Source's Capsules that follow the base. */
    modules: Schema.Array(ModuleReview),
    /** Number of further modules that were not reviewed. */
    more: Schema.Int
  }).annotate({ identifier: "StaticReview" })
) {}
