import { Schema } from "effect"

/** The lane could not be fetched. */
export class LaneUnavailable extends Schema.TaggedError<LaneUnavailable>()("LaneUnavailable", {
  code: Schema.String,
  message: Schema.String,
  /** True if only this request failed, which does not make the lane unavailable. */
  ofRequest: Schema.Boolean
}) {}
