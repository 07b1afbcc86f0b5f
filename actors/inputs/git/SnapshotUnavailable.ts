import { Schema } from "effect"

/** The files of a recorded commit are neither stored here nor available from its repository. */
export class SnapshotUnavailable extends Schema.TaggedError<SnapshotUnavailable>()("SnapshotUnavailable", {
  message: Schema.String
}) {}
