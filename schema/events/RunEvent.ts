import { Schema } from "effect"
import { Timestamp } from "../records/Primitives.ts"

export const RunPhase = Schema.Literals([
  "prepare",
  "fetch",
  "build",
  "init",
  "plan",
  "apply",
  "show",
  "state",
  "outputs",
  /** The operator's checks after an apply. */
  "check"
])
export type RunPhase = typeof RunPhase.Type

/** Kinds of Run event (specification, ruling 3). */
export const RunEventKind = Schema.Literals([
  "run.queued",
  "run.started",
  "run.phase",
  "resource.started",
  "resource.progress",
  "resource.completed",
  "resource.failed",
  "plan.summary",
  "diagnostic",
  "run.waiting_approval",
  "run.approved",
  "run.applying",
  "run.superseded",
  "run.cancelling",
  "run.succeeded",
  "run.failed",
  "run.cancelled",
  "run.expired",
  "state.saved"
])
export type RunEventKind = typeof RunEventKind.Type

/** One event of a Run. `seq` starts at 1 and has no gaps within a Run. */
export const RunEvent = Schema.Struct({
  seq: Schema.Int,
  at: Timestamp,
  kind: RunEventKind,
  data: Schema.Record(Schema.String, Schema.Json)
}).annotate({ identifier: "RunEvent" })
export type RunEvent = typeof RunEvent.Type

export const LogStream = Schema.Literals(["stdout", "stderr", "system"])
export type LogStream = typeof LogStream.Type

/** One log line of a Run, redacted. `seq` starts at 1 and has no gaps within a Run. */
export const RunLogEntry = Schema.Struct({
  seq: Schema.Int,
  at: Timestamp,
  phase: RunPhase,
  stream: LogStream,
  text: Schema.String
}).annotate({ identifier: "RunLogEntry" })
export type RunLogEntry = typeof RunLogEntry.Type
