import { Schema } from "effect"
import { RunEvidence } from "../../../schema/records/Run.ts"

/** Why a Run cannot start. `superseded` when its authority has changed. */
export class RunBlocked extends Schema.TaggedError<RunBlocked>()("RunBlocked", {
  code: Schema.String,
  message: Schema.String,
  evidence: RunEvidence
}) {}

export const blocked = (code: string, message: string, evidence: RunEvidence = {}) =>
  new RunBlocked({ code, message, evidence })
