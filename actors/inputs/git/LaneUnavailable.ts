import { Schema } from "effect"

/** The reason why a lane could not be fetched. */
export class LaneUnavailable extends Schema.TaggedError<LaneUnavailable>()("LaneUnavailable", {
  code: Schema.String,
  message: Schema.String,
  /** True if the failure concerns only the request, not the lane. */
  ofRequest: Schema.Boolean
}) {}
