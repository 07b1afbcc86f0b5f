import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { RunEvent, RunLogEntry } from "../events/RunEvent.ts"
import { ChangeCauses } from "../records/ChangeCauses.ts"
import { CostEstimate } from "../records/CostEstimate.ts"
import { displayText, freeText } from "../records/Primitives.ts"
import { Run } from "../records/Run.ts"
import { RunGroup } from "../records/RunGroup.ts"
import { SourceChanges } from "../records/SourceChanges.ts"
import { StateVersion } from "../records/StateVersion.ts"
import { UncertainCode } from "../records/UncertainGround.ts"
import { created, repeatable } from "./AnswerStatus.ts"
import { optionalIdempotencyHeaders } from "./IdempotencyHeaders.ts"
import { sequenceQuery } from "./Paging.ts"
import { ExtensionFamily } from "./ExtensionFamily.ts"

const ofRun = { runId: Schema.String }

/** The reason for the rollback, and a flag for whether the Capsule follows newer commits afterwards. */
export class RollbackPlanRequest extends Schema.Opaque<RollbackPlanRequest>()(
  Schema.Struct({
    reason: Schema.optionalKey(displayText(500)),
    resumeOnNewCommit: Schema.optionalKey(Schema.Boolean)
  })
) {}

export const RunEventPage = Schema.Struct({
  events: Schema.Array(RunEvent),
  nextAfter: Schema.Int,
  done: Schema.Boolean
})
export const RunLogPage = Schema.Struct({
  entries: Schema.Array(RunLogEntry),
  nextAfter: Schema.Int,
  done: Schema.Boolean
})

export class RunsApi extends HttpApiGroup.make("runs")
  .add(
    HttpApiEndpoint.get("read", "/api/v1/runs/:runId", {
      params: ofRun,
      success: Schema.Struct({ run: Run })
    })
  )
  .add(
    HttpApiEndpoint.post("approve", "/api/v1/runs/:runId/approve", {
      params: ofRun,
      payload: Schema.Struct({
        planDigest: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(128))),
        comment: Schema.optionalKey(freeText(2000)),
        acknowledged: Schema.optionalKey(Schema.Array(UncertainCode).check(Schema.isMaxLength(16)))
      }),
      success: Schema.Struct({ run: Run })
    })
  )
  .add(
    HttpApiEndpoint.post("apply", "/api/v1/runs/:runId/apply", {
      params: ofRun,
      headers: optionalIdempotencyHeaders,
      payload: Schema.Struct({}),
      success: repeatable(Schema.Struct({ run: Run }))
    })
  )
  .add(
    HttpApiEndpoint.post("cancel", "/api/v1/runs/:runId/cancel", {
      params: ofRun,
      payload: Schema.Struct({
        reason: Schema.optionalKey(freeText(2000)),
        planDigest: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(128)))
      }),
      success: Schema.Struct({ run: Run })
    })
  )
  .add(
    HttpApiEndpoint.get("logs", "/api/v1/runs/:runId/logs", {
      params: ofRun,
      query: sequenceQuery,
      success: RunLogPage
    })
  )
  .add(
    HttpApiEndpoint.get("events", "/api/v1/runs/:runId/events", {
      params: ofRun,
      query: sequenceQuery,
      success: RunEventPage
    })
  )
  .add(
    HttpApiEndpoint.get("cost", "/api/v1/runs/:runId/cost", {
      params: ofRun,
      success: Schema.Struct({
        cost: CostEstimate
      })
    })
  )
  .add(
    HttpApiEndpoint.get("sourceChanges", "/api/v1/runs/:runId/source-changes", {
      params: ofRun,
      success: Schema.Struct({ sourceChanges: SourceChanges })
    }).annotate(ExtensionFamily, "run-search")
  )
  .add(
    HttpApiEndpoint.get("changeCauses", "/api/v1/runs/:runId/change-causes", {
      params: ofRun,
      success: Schema.Struct({ changeCauses: ChangeCauses })
    }).annotate(ExtensionFamily, "run-search")
  )
  .add(
    HttpApiEndpoint.get("group", "/api/v1/run-groups/:runGroupId", {
      params: { runGroupId: Schema.String },
      success: Schema.Struct({ runGroup: RunGroup, runs: Schema.Array(Run) })
    })
  )
  .add(
    HttpApiEndpoint.post("approveGroup", "/api/v1/run-groups/:runGroupId/approve", {
      params: { runGroupId: Schema.String },
      payload: Schema.Struct({
        comment: Schema.optionalKey(freeText(2000)),
        planDigests: Schema.optionalKey(Schema.Array(Schema.String).check(Schema.isMaxLength(1000)))
      }),
      success: Schema.Struct({ runGroup: RunGroup, runs: Schema.Array(Run) })
    })
  )
  .add(
    HttpApiEndpoint.post("cancelGroup", "/api/v1/run-groups/:runGroupId/cancel", {
      params: { runGroupId: Schema.String },
      payload: Schema.Struct({ reason: Schema.optionalKey(freeText(2000)) }),
      success: Schema.Struct({ runGroup: RunGroup, runs: Schema.Array(Run) })
    }).annotate(ExtensionFamily, "run-groups")
  )
  .add(
    HttpApiEndpoint.get("stateVersion", "/api/v1/state-versions/:stateVersionId", {
      params: { stateVersionId: Schema.String },
      success: Schema.Struct({ stateVersion: StateVersion })
    })
  )
  .add(
    HttpApiEndpoint.post("rollbackPlan", "/api/v1/state-versions/:stateVersionId/rollback-plan", {
      params: { stateVersionId: Schema.String },
      payload: Schema.optional(RollbackPlanRequest),
      success: Schema.Struct({ run: Run }).pipe(created)
    })
  ) {}
