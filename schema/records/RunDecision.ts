import { Schema } from "effect"
import { Subject } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"

/** `subject` is absent if the service decided itself, without a person. */
const decision = {
  subject: Schema.optionalKey(Subject),
  at: Timestamp,
  reason: Schema.optionalKey(Schema.String)
}

/** A request to stop a Run while it was executing. */
const CancelRequest = Schema.Struct(decision).annotate({ identifier: "CancelRequest" })
type CancelRequest = typeof CancelRequest.Type

/**
 * Reasons for the early end of a Run. `discarded`: a plan that waited for its approval. `approval_withdrawn`: an approved plan
 * that was not applied.
 */
const RunEndKind = Schema.Literals(["cancelled", "discarded", "approval_withdrawn", "superseded", "expired"])
export type RunEndKind = typeof RunEndKind.Type

/** The person who ended a Run early, and the reason. */
const RunEndedBy = Schema.Struct({ kind: RunEndKind, ...decision }).annotate({ identifier: "RunEndedBy" })
export type RunEndedBy = typeof RunEndedBy.Type

/** Decisions about a Run that are recorded with its evidence. Runs of earlier releases have no such decisions. */
export const runDecisions = {
  cancelRequest: Schema.optionalKey(CancelRequest),
  endedBy: Schema.optionalKey(RunEndedBy)
}
export interface RunDecisions {
  readonly cancelRequest?: CancelRequest
  readonly endedBy?: RunEndedBy
}
