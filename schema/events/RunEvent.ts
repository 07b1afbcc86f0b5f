import { Schema, Struct, Tuple } from "effect"
import { CompatibilityReport } from "../records/CompatibilityReport.ts"
import { Timestamp } from "../records/Primitives.ts"
import { PlanSummary } from "../records/PlanDetails.ts"
import { RunDiagnostic, RunType } from "../records/Run.ts"

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
  /** The operator's post-apply checks. */
  "check"
])
export type RunPhase = typeof RunPhase.Type

/** Maximum length of a string in an event. */
export const longestEventText = 16 * 1024

const kind = <const Kind extends string, Data extends Schema.Top>(literal: Kind, data: Data) =>
  Schema.Struct({ kind: Schema.Literal(literal), data })

const ResourceData = Schema.Struct({
  /** As written by the tool. */
  address: Schema.String,
  /** The tool's term: `create`, `update`, `delete`, `read` and the like. */
  action: Schema.String,
  /** The object's identifier at the provider, once it has one. */
  id: Schema.optionalKey(Schema.String),
  elapsedSeconds: Schema.optionalKey(Schema.Finite)
})

/** The person who decided; absent if the service did. */
const subject = Schema.optionalKey(Schema.String)

const ErrorData = Schema.Struct({ code: Schema.String, message: Schema.String })

/** Events that the runner reports while a Run is executing. */
const reported = [
  kind("run.phase", Schema.Struct({ phase: RunPhase })),
  kind("resource.started", ResourceData),
  kind("resource.progress", ResourceData),
  kind("resource.completed", ResourceData),
  kind("resource.failed", ResourceData),
  kind("plan.summary", PlanSummary),
  kind("diagnostic", RunDiagnostic)
] as const

/** Events that the service decides or stores; no runner can report them. */
const decided = [
  /** `type` for a new Run, `reason` for a Run that returned to the queue. */
  kind("run.queued", Schema.Struct({ type: Schema.optionalKey(RunType), reason: Schema.optionalKey(Schema.String) })),
  kind("run.started", Schema.Struct({ attempt: Schema.Int })),
  kind("run.waiting_approval", Schema.Struct({ planDigest: Schema.String, hasChanges: Schema.Boolean })),
  /** `automatic` when the service approved it for a followed lane. */
  kind(
    "run.approved",
    Schema.Struct({
      planDigest: Schema.NullOr(Schema.String),
      comment: Schema.optionalKey(Schema.String),
      subject,
      automatic: Schema.optionalKey(Schema.Literal(true))
    })
  ),
  kind("run.applying", Schema.Struct({ planRunId: Schema.String })),
  kind("run.superseded", Schema.Struct({ reason: Schema.String })),
  kind("run.cancelling", Schema.Struct({ reason: Schema.optionalKey(Schema.String), subject })),
  /** One per Run type: sync, check, drift check, backup; the last is for an apply. */
  kind(
    "run.succeeded",
    Schema.Union([
      Schema.Struct({
        sourceSnapshotId: Schema.String,
        resolvedCommit: Schema.String,
        fileCount: Schema.Int,
        reused: Schema.Boolean
      }),
      Schema.Struct({ compatibilityReportId: Schema.String, status: CompatibilityReport.fields.status }),
      Schema.Struct({ drifted: Schema.Boolean }),
      Schema.Struct({ backupId: Schema.String, sizeBytes: Schema.Int }),
      Schema.Struct({ stateVersionId: Schema.optionalKey(Schema.String) })
    ])
  ),
  kind("run.failed", Schema.Struct({ error: ErrorData, stateVersionId: Schema.optionalKey(Schema.String) })),
  /** `stateVersionId` of the state that an apply left behind; `approvalWithdrawn` if an approved plan was not applied. */
  kind(
    "run.cancelled",
    Schema.Struct({
      reason: Schema.optionalKey(Schema.String),
      subject,
      error: Schema.optionalKey(ErrorData),
      stateVersionId: Schema.optionalKey(Schema.String),
      approvalWithdrawn: Schema.optionalKey(Schema.Literal(true))
    })
  ),
  // A struct without fields would accept any object.
  kind("run.expired", Schema.Record(Schema.String, Schema.Never)),
  /** The agent executing the Run has been silent since this time, or has contacted the server again. */
  kind("agent.unreachable", Schema.Struct({ agentId: Schema.String, since: Timestamp })),
  kind("agent.returned", Schema.Struct({ agentId: Schema.String, since: Timestamp })),
  /** The agent reaches the server, but has received no answer since this time, or receives answers again. */
  kind("agent.unanswered", Schema.Struct({ agentId: Schema.String, since: Timestamp })),
  kind("agent.answered", Schema.Struct({ agentId: Schema.String, since: Timestamp })),
  /** Somebody released the Run from a silent agent before its lease expired; the operation history records who. */
  kind(
    "agent.released",
    Schema.Struct({
      agentId: Schema.String,
      by: Schema.Literals(["member", "operator"]),
      reason: Schema.optionalKey(Schema.String)
    })
  ),
  /** The service has stored a state of a running apply. */
  kind("state.saved", Schema.Struct({ serial: Schema.Int, resourceCount: Schema.Int, final: Schema.Literal(false) }))
] as const

/** The content of an event: its kind (specification, ruling 3), and that kind's data. */
export const RunFact = Schema.Union([...reported, ...decided])
export type RunFact = typeof RunFact.Type

export const ReportedFact = Schema.Union(reported)
export type ReportedFact = typeof ReportedFact.Type

/** Decodes facts strictly: a field that the kind does not define is refused. */
export const closed = { onExcessProperty: "error" } as const

type DataOf = { readonly [Fact in RunFact as Fact["kind"]]: Fact["data"] }

export const RunEventKind = Schema.Literals(RunFact.members.map(({ fields }) => fields.kind.literal))
export type RunEventKind = keyof DataOf
export type ReportedKind = ReportedFact["kind"]

/** The data of one event kind. */
export type RunEventData<Kind extends RunEventKind> = DataOf[Kind]

/** Data that an earlier release stored with an event. It is passed on unchanged. */
export const EarlierData = Schema.Record(Schema.String, Schema.Json).annotate({
  identifier: "EarlierEventData",
  description: "Data that an earlier release stored: fields of the kind may be missing, and others may be there."
})

const inSequence = { seq: Schema.Int, at: Timestamp }

interface AsRead extends Struct.Lambda {
  <Kind extends Schema.Top, Data extends Schema.Top>(
    fact: Schema.Struct<{ readonly kind: Kind; readonly data: Data }>
  ): Read<Kind, Data>
  readonly "~lambda.out": this["~lambda.in"] extends Schema.Struct<{
    readonly kind: infer Kind extends Schema.Top
    readonly data: infer Data extends Schema.Top
  }>
    ? Read<Kind, Data>
    : never
}
type Read<Kind extends Schema.Top, Data extends Schema.Top> = Schema.Struct<{
  readonly seq: typeof inSequence.seq
  readonly at: typeof inSequence.at
  readonly kind: Kind
  readonly data: Schema.Union<readonly [typeof EarlierData, Data]>
}>

/**
 * One Run event, as read. `seq` starts at 1 and has no gaps within a Run. Stored data is passed on unchanged, so the tolerant
 * form comes first; everything that this release writes has the closed form.
 */
export const RunEvent = RunFact.mapMembers(
  Tuple.map(
    Struct.lambda<AsRead>(({ fields }) =>
      Schema.Struct({ ...inSequence, kind: fields.kind, data: Schema.Union([EarlierData, fields.data]) })
    )
  )
).annotate({ identifier: "RunEvent" })
export type RunEvent = typeof RunEvent.Type

export const LogStream = Schema.Literals(["stdout", "stderr", "system"])
export type LogStream = typeof LogStream.Type

/** One log line of a Run, redacted. `seq` starts at 1 and has no gaps within a Run. */
export class RunLogEntry extends Schema.Opaque<RunLogEntry>()(
  Schema.Struct({
    seq: Schema.Int,
    at: Timestamp,
    phase: RunPhase,
    stream: LogStream,
    text: Schema.String
  }).annotate({ identifier: "RunLogEntry" })
) {}
