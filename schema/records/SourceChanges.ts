import { Schema } from "effect"
import { CommitDescription } from "./Commit.ts"
import { RunId, SourceSnapshotId } from "./Ids.ts"

/** More files than anyone would read in a review. */
export const mostChangedFiles = 300

/**
 * The files of a Run's module that its commit changes.
 *
 * - `compared`: with the commit of the state that the Run started from
 * - `first`: nothing has been applied before, so everything is new
 * - `not_stored`: one of the two commits is no longer stored
 * - `no_source`: the Run has no commit
 */
export class SourceChanges extends Schema.Opaque<SourceChanges>()(
  Schema.Struct({
    runId: RunId,
    status: Schema.Literals(["compared", "first", "not_stored", "no_source"]),
    /** The commit of the last apply when the Run started. */
    since: Schema.optionalKey(
      Schema.Struct({
        sourceSnapshotId: SourceSnapshotId,
        resolvedCommit: Schema.String,
        commitDescription: Schema.optionalKey(CommitDescription)
      })
    ),
    /** `source`: the exact files of the module could not be determined, so the list contains every file in the Source's folder. */
    scope: Schema.optionalKey(Schema.Literals(["module", "source"])),
    /** The first 300, sorted by path. */
    files: Schema.Array(
      Schema.Struct({ path: Schema.String, change: Schema.Literals(["added", "changed", "removed"]) })
    ),
    fileCount: Schema.Int
  }).annotate({ identifier: "SourceChanges" })
) {}
