import { Schema } from "effect"
import { Subject } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"

/** `subject` is absent if svc itself made the decision. */
const decision = {
  subject: Schema.optionalKey(Subject),
  at: Timestamp,
  reason: Schema.optionalKey(Schema.String)
}

/** A request to stop a running Run. */
const CancelRequest = Schema.Struct(decision).annotate({ identifier: "CancelRequest" })
type CancelRequest = typeof CancelRequest.Type

/**
 * The way in which a Run ended early. `discarded`: a plan that was waiting for approval. `approval_withdrawn`: an approved plan
 * that was not applied.
 */
const RunEndKind = Schema.Literals(["cancelled", "discarded", "approval_withdrawn", "superseded", "expired"])
export type RunEndKind = typeof RunEndKind.Type

/** The person who ended a Run early, and the reason. */
const RunEndedBy = Schema.Struct({ kind: RunEndKind, ...decision }).annotate({ identifier: "RunEndedBy" })
export type RunEndedBy = typeof RunEndedBy.Type

/** Decisions about a Run that are recorded with its evidence. Runs from earlier releases have none. */
export const runDecisions = {
  cancelRequest: Schema.optionalKey(CancelRequest),
  endedBy: Schema.optionalKey(RunEndedBy)
}
export interface RunDecisions {
  readonly cancelRequest?: CancelRequest
  readonly endedBy?: RunEndedBy
}
