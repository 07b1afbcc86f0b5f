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
  /** The address as the tool writes it. */
  address: Schema.String,
  /** The tool's term, such as `create`, `update`, `delete` or `read`. */
  action: Schema.String,
  /** The provider's id of the object, once it exists. */
  id: Schema.optionalKey(Schema.String),
  elapsedSeconds: Schema.optionalKey(Schema.Finite)
})

/** The person who decided; absent if svc decided. */
const subject = Schema.optionalKey(Schema.String)

const ErrorData = Schema.Struct({ code: Schema.String, message: Schema.String })

/** Events that the runner reports during a Run. */
const reported = [
  kind("run.phase", Schema.Struct({ phase: RunPhase })),
  kind("resource.started", ResourceData),
  kind("resource.progress", ResourceData),
  kind("resource.completed", ResourceData),
  kind("resource.failed", ResourceData),
  kind("plan.summary", PlanSummary),
  kind("diagnostic", RunDiagnostic)
] as const

/** Events that only svc itself writes. */
const decided = [
  /** `type` is set if the Run is new; `reason` is set if the Run returned to the queue. */
  kind("run.queued", Schema.Struct({ type: Schema.optionalKey(RunType), reason: Schema.optionalKey(Schema.String) })),
  kind("run.started", Schema.Struct({ attempt: Schema.Int })),
  kind("run.waiting_approval", Schema.Struct({ planDigest: Schema.String, hasChanges: Schema.Boolean })),
  /** `automatic` is set if svc itself approved the plan, because the Capsule follows its lane. */
  kind(
    "run.approved",
    Schema.Struct({
      planDigest: Schema.NullOr(Schema.String),
      comment: Schema.optionalKey(Schema.String),
      subject,
      automatic: Schema.optionalKey(Schema.Literal(true)),
      /** The speculative plan from which the approvals were carried over. */
      carriedFromRunId: Schema.optionalKey(Schema.String)
    })
  ),
  kind("run.applying", Schema.Struct({ planRunId: Schema.String })),
  kind("run.superseded", Schema.Struct({ reason: Schema.String })),
  kind("run.cancelling", Schema.Struct({ reason: Schema.optionalKey(Schema.String), subject })),
  /** The results of syncs, checks, drift checks, speculative plans, backups and applies. */
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
      Schema.Struct({ planDigest: Schema.String, hasChanges: Schema.Boolean }),
      Schema.Struct({ backupId: Schema.String, sizeBytes: Schema.Int }),
      Schema.Struct({ stateVersionId: Schema.optionalKey(Schema.String) })
    ])
  ),
  kind("run.failed", Schema.Struct({ error: ErrorData, stateVersionId: Schema.optionalKey(Schema.String) })),
  /**
   * `stateVersionId` is the StateVersion that an apply left behind. `approvalWithdrawn` is set if an approved plan was not
   * applied.
   */
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
  // A record that permits no fields. A struct without fields would accept any object.
  kind("run.expired", Schema.Record(Schema.String, Schema.Never)),
  /** `agent.unreachable`: the agent has been silent since `since`. `agent.returned`: it has contacted the server again. */
  kind("agent.unreachable", Schema.Struct({ agentId: Schema.String, since: Timestamp })),
  kind("agent.returned", Schema.Struct({ agentId: Schema.String, since: Timestamp })),
  /**
   * `agent.unanswered`: the agent's requests arrive, but it has received no responses since `since`. `agent.answered`: it
   * receives responses again.
   */
  kind("agent.unanswered", Schema.Struct({ agentId: Schema.String, since: Timestamp })),
  kind("agent.answered", Schema.Struct({ agentId: Schema.String, since: Timestamp })),
  /** Somebody released the Run from a silent agent before its lease expired. The operation history shows who released it. */
  kind(
    "agent.released",
    Schema.Struct({
      agentId: Schema.String,
      by: Schema.Literals(["member", "operator"]),
      reason: Schema.optionalKey(Schema.String)
    })
  ),
  /** svc has stored a state of a running apply. */
  kind("state.saved", Schema.Struct({ serial: Schema.Int, resourceCount: Schema.Int, final: Schema.Literal(false) }))
] as const

/** The kind of an event and its data (specification, ruling 3). */
export const RunFact = Schema.Union([...reported, ...decided])
export type RunFact = typeof RunFact.Type

export const ReportedFact = Schema.Union(reported)
export type ReportedFact = typeof ReportedFact.Type

/** Rejects fields that the kind does not define. */
export const closed = { onExcessProperty: "error" } as const

type DataOf = { readonly [Fact in RunFact as Fact["kind"]]: Fact["data"] }

export const RunEventKind = Schema.Literals(RunFact.members.map(({ fields }) => fields.kind.literal))
export type RunEventKind = keyof DataOf
export type ReportedKind = ReportedFact["kind"]

/** The data of one event kind. */
export type RunEventData<Kind extends RunEventKind> = DataOf[Kind]

/** Data that an earlier release stored with an event. It is returned unchanged. */
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
 * A Run event. `seq` starts at 1 and has no gaps within a Run. The union lists the tolerant form first, so that data stored
 * by earlier releases is returned unchanged; this release writes only the closed form.
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

/** A redacted line of a Run's log. `seq` starts at 1 and has no gaps within a Run. */
export class RunLogEntry extends Schema.Opaque<RunLogEntry>()(
  Schema.Struct({
    seq: Schema.Int,
    at: Timestamp,
    phase: RunPhase,
    stream: LogStream,
    text: Schema.String
  }).annotate({ identifier: "RunLogEntry" })
) {}
