import { Schema } from "effect"
import { CommitDescription } from "./Commit.ts"
import { RunId, SourceSnapshotId } from "./Ids.ts"

/** Maximum number of files to list. Reviewers do not read longer lists. */
export const mostChangedFiles = 300

/**
 * The files of a Run's module that its commit changes.
 *
 * - `compared`: compared with the commit of the state on which the Run is based
 * - `first`: nothing was applied before, so everything is new
 * - `not_stored`: one of the two commits is no longer stored
 * - `no_source`: the Run has no commit
 */
export class SourceChanges extends Schema.Opaque<SourceChanges>()(
  Schema.Struct({
    runId: RunId,
    status: Schema.Literals(["compared", "first", "not_stored", "no_source"]),
    /** The commit of the last apply before the Run started. */
    since: Schema.optionalKey(
      Schema.Struct({
        sourceSnapshotId: SourceSnapshotId,
        resolvedCommit: Schema.String,
        commitDescription: Schema.optionalKey(CommitDescription)
      })
    ),
    /** `source`: the exact files of the module are unknown, so every file in the Source's folder is listed. */
    scope: Schema.optionalKey(Schema.Literals(["module", "source"])),
    /** The first 300 files, sorted by path. */
    files: Schema.Array(
      Schema.Struct({ path: Schema.String, change: Schema.Literals(["added", "changed", "removed"]) })
    ),
    fileCount: Schema.Int
  }).annotate({ identifier: "SourceChanges" })
) {}
