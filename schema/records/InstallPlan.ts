import { Schema } from "effect"
import { Finding } from "./CompatibilityReport.ts"
import {
  CapsuleId,
  CompatibilityReportId,
  InstallConfigId,
  InstallPlanId,
  RevisionPlanId,
  RunId,
  SourceId,
  SourceSnapshotId,
  WorkspaceId
} from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"

export const InstallPlanPhase = Schema.Literals([
  "syncing_source",
  "analyzing_compatibility",
  "creating_capsule",
  "planning",
  "reviewable",
  "failed"
])
export type InstallPlanPhase = typeof InstallPlanPhase.Type

export const NextAction = Schema.Literals(["reconcile", "review_run", "plan_again", "none"])
export type NextAction = typeof NextAction.Type

/**
 * The public projection of an install coordinator. Contains only references to Source, SourceSnapshot, InstallConfig, Capsule and
 * plan, and diagnostics (specification, Install plans).
 */
export class InstallPlan extends Schema.Opaque<InstallPlan>()(
  Schema.Struct({
    id: InstallPlanId,
    workspaceId: WorkspaceId,
    phase: InstallPlanPhase,
    nextAction: NextAction,
    sourceId: Schema.optionalKey(SourceId),
    sourceSnapshotId: Schema.optionalKey(SourceSnapshotId),
    installConfigId: Schema.optionalKey(InstallConfigId),
    capsuleId: Schema.optionalKey(CapsuleId),
    planRunId: Schema.optionalKey(RunId),
    diagnostics: Schema.Array(Finding),
    createdAt: Timestamp,
    updatedAt: Timestamp
  }).annotate({ identifier: "InstallPlan" })
) {}

export const RevisionPlanPhase = Schema.Literals([
  "syncing_source",
  "analyzing_compatibility",
  "planning",
  "reviewable",
  "applied",
  "superseded",
  "failed"
])
export type RevisionPlanPhase = typeof RevisionPlanPhase.Type

export class RevisionPlan extends Schema.Opaque<RevisionPlan>()(
  Schema.Struct({
    id: RevisionPlanId,
    workspaceId: WorkspaceId,
    capsuleId: CapsuleId,
    ref: Schema.String,
    /** Set if the plan only shows what the ref would change. */
    speculative: Schema.optionalKey(Schema.Literal(true)),
    phase: RevisionPlanPhase,
    nextAction: NextAction,
    syncRunId: Schema.optionalKey(RunId),
    compatibilityCheckRunId: Schema.optionalKey(RunId),
    sourceSnapshotId: Schema.optionalKey(SourceSnapshotId),
    compatibilityReportId: Schema.optionalKey(CompatibilityReportId),
    planRunId: Schema.optionalKey(RunId),
    diagnostics: Schema.Array(Finding),
    createdAt: Timestamp,
    updatedAt: Timestamp
  }).annotate({ identifier: "RevisionPlan" })
) {}

/** The action that takes an install or revision plan out of this phase. */
export const nextActionOf = (phase: InstallPlanPhase | RevisionPlanPhase): NextAction => {
  switch (phase) {
    case "reviewable":
      return "review_run"
    case "superseded":
      return "plan_again"
    case "applied":
    case "failed":
      return "none"
    default:
      return "reconcile"
  }
}
