import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { RunEvent, RunLogEntry } from "../events/RunEvent.ts"
import { ChangeCauses } from "../records/ChangeCauses.ts"
import { CostEstimate } from "../records/CostEstimate.ts"
import { displayText, freeText } from "../records/Primitives.ts"
import { Run } from "../records/Run.ts"
import { RunGroup } from "../records/RunGroup.ts"
import { SourceChanges } from "../records/SourceChanges.ts"
import { StateVersion } from "../records/StateVersion.ts"
import { created, described, describedGroup, describedRun, describedStream, repeatable } from "./Endpoint.ts"
import { optionalIdempotencyHeaders } from "./IdempotencyHeaders.ts"
import { sequenceQuery } from "./Paging.ts"
import { accessOf } from "./Roles.ts"

const ofRun = { runId: Schema.String }
const live =
  "With a WebSocket upgrade, or `Accept: text/event-stream` (resume with `Last-Event-ID`), the route replays from `after` and then follows live: one JSON frame a batch, `{done:true}` at the end."

/** Why somebody rolls back, and whether a newer commit may be followed again. */
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

export class RunsApi extends describedGroup("runs", "Plans, applies and checks: review, events and logs.")
  .add(
    HttpApiEndpoint.get("read", "/api/v1/runs/:runId", {
      params: ofRun,
      success: Schema.Struct({ run: Run })
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/runs/:runId"),
        "Read a Run",
        "With the evidence of its phases: summary and redacted resource changes of the plan, its digest, tool, diagnostics. `profile` names the execution profile that the operator chose, `isolation` and `network` say how the module was kept apart from the machine and what it reached. `operatorConfig` is what the operator's base configuration says to the Run, `signIn` where the identity that a plan asks for lets people return, after a sign-in and after a sign-out, `postApply` how the checks after an apply ended: an apply that failed with `lifecycle_failed` has committed its state and Outputs. A Run that hit one of its limits failed with `memory_limit`, `process_limit`, `tmp_limit`, `shm_limit`, `folder_limit` or `disk_low`. Sensitive values are absent, not masked in part."
      )
    )
  )
  .add(
    HttpApiEndpoint.post("approve", "/api/v1/runs/:runId/approve", {
      params: ofRun,
      payload: Schema.Struct({
        planDigest: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(128))),
        comment: Schema.optionalKey(freeText(2000))
      }),
      success: Schema.Struct({ run: Run })
    }).annotateMerge(
      described(
        accessOf("POST /api/v1/runs/:runId/approve"),
        "Approve a reviewable plan",
        "A `planDigest` that is not the Run's is refused (409). `comment` is kept on the Run (`approvalComment`) and in the audit event: everybody who may read the Run reads it. An approval that was not applied is withdrawn by `cancel`."
      )
    )
  )
  .add(
    HttpApiEndpoint.post("apply", "/api/v1/runs/:runId/apply", {
      params: ofRun,
      headers: optionalIdempotencyHeaders,
      payload: Schema.Struct({}),
      success: repeatable(Schema.Struct({ run: Run }))
    }).annotateMerge(
      describedRun(
        accessOf("POST /api/v1/runs/:runId/apply"),
        "Apply an approved plan",
        "Creates the Apply Run (201). Each plan is usable once: a second apply is 409, or 200 with the same Run under the same `Idempotency-Key`."
      )
    )
  )
  .add(
    HttpApiEndpoint.post("cancel", "/api/v1/runs/:runId/cancel", {
      params: ofRun,
      payload: Schema.Struct({ reason: Schema.optionalKey(freeText(2000)) }),
      success: Schema.Struct({ run: Run })
    }).annotateMerge(
      described(
        accessOf("POST /api/v1/runs/:runId/cancel"),
        "Cancel a queued, running or waiting Run, or withdraw an approval",
        "A running tool is interrupted and given time to save its state. A plan that was approved and not applied becomes `cancelled`, its saved plan file is erased, and the withdrawal is audited as `run.withdraw_approval`; `approvedBy`, `approvedAt` and `approvalComment` stay on the record. Once an apply has used the plan the answer is 409 `run_conflict` and names the Apply Run: cancel that one. Of a withdrawal and an apply at once exactly one wins."
      )
    )
  )
  .add(
    HttpApiEndpoint.get("logs", "/api/v1/runs/:runId/logs", {
      params: ofRun,
      query: sequenceQuery,
      success: RunLogPage
    }).annotateMerge(
      describedStream(
        accessOf("GET /api/v1/runs/:runId/logs"),
        "Log lines of a Run, redacted",
        `${live} A log beyond 512 MiB (several million lines) is kept without its middle: a line of the stream \`system\` says how many lines were left out, and the last ones follow it when the Run ends.`,
        "RunLog"
      )
    )
  )
  .add(
    HttpApiEndpoint.get("events", "/api/v1/runs/:runId/events", {
      params: ofRun,
      query: sequenceQuery,
      success: RunEventPage
    }).annotateMerge(describedStream(accessOf("GET /api/v1/runs/:runId/events"), "Events of a Run", live, "RunEvent"))
  )
  .add(
    HttpApiEndpoint.get("cost", "/api/v1/runs/:runId/cost", {
      params: ofRun,
      success: Schema.Struct({
        cost: CostEstimate
      })
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/runs/:runId/cost"),
        "Cost estimate",
        "What the plan changes in the monthly bill, by the price table of the operator's policy file; `not_available` without one. `reasons` names what is not in the sum. An apply answers for its plan."
      )
    )
  )
  .add(
    HttpApiEndpoint.get("sourceChanges", "/api/v1/runs/:runId/source-changes", {
      params: ofRun,
      success: Schema.Struct({ sourceChanges: SourceChanges })
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/runs/:runId/source-changes"),
        "Files of the module that a Run's commit changes",
        "Compared with the commit of the state that the Run started from (`since`), by the digests of stored files: added, changed, removed, the first 300 and their count. `scope` is `module` for the module, its local modules and what they read, `source` where that is not known for sure. `not_stored`: one of the commits was removed from this server."
      )
    )
  )
  .add(
    HttpApiEndpoint.get("changeCauses", "/api/v1/runs/:runId/change-causes", {
      params: ofRun,
      success: Schema.Struct({ changeCauses: ChangeCauses })
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/runs/:runId/change-causes"),
        "Why a plan changes what it changes",
        "From evidence: what differs since the last apply (`causes`), and for each resource which of it may have led to its change. `certain` means that the evidence leaves one cause; otherwise `causes` has the possible ones, and none where nothing recorded explains the change. Names of inputs, Outputs, files and resources, never values."
      )
    )
  )
  .add(
    HttpApiEndpoint.get("group", "/api/v1/run-groups/:runGroupId", {
      params: { runGroupId: Schema.String },
      success: Schema.Struct({ runGroup: RunGroup, runs: Schema.Array(Run) })
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/run-groups/:runGroupId"),
        "Read a group of Runs",
        "`runs` in dependency order. An update has `waves`: where each of its Capsules stands, what it waits for, and why one was left out or failed. A Capsule is planned once everything that it takes Outputs of was applied or left out; nobody has to ask for the next wave. `waiting_approval`: a person is needed, to review or apply plans, or for what `heldReason` says. A Capsule that failed keeps those that take from it waiting; a plan that a person makes of it belongs to the group again. `finishedAt` comes once nothing of it can go on."
      )
    )
  )
  .add(
    HttpApiEndpoint.post("approveGroup", "/api/v1/run-groups/:runGroupId/approve", {
      params: { runGroupId: Schema.String },
      payload: Schema.Struct({
        comment: Schema.optionalKey(freeText(2000)),
        planDigests: Schema.optionalKey(Schema.Array(Schema.String).check(Schema.isMaxLength(1000)))
      }),
      success: Schema.Struct({ runGroup: RunGroup, runs: Schema.Array(Run) })
    }).annotateMerge(
      described(
        accessOf("POST /api/v1/run-groups/:runGroupId/approve"),
        "Approve every reviewable plan of a group",
        "Refused (409) while a plan of the group is still being made. `planDigests` are those that were reviewed: a waiting plan that is not among them refuses the whole request. Plans that are not waiting for approval stay as they are. Each is applied by its own `apply`."
      )
    )
  )
  .add(
    HttpApiEndpoint.post("cancelGroup", "/api/v1/run-groups/:runGroupId/cancel", {
      params: { runGroupId: Schema.String },
      payload: Schema.Struct({ reason: Schema.optionalKey(freeText(2000)) }),
      success: Schema.Struct({ runGroup: RunGroup, runs: Schema.Array(Run) })
    }).annotateMerge(
      described(
        accessOf("POST /api/v1/run-groups/:runGroupId/cancel"),
        "Cancel an update",
        "Nothing more is planned; plans of the group that are not applied are void, also approved ones; an apply that runs goes on. Refused (409) once the update is over."
      )
    )
  )
  .add(
    HttpApiEndpoint.get("stateVersion", "/api/v1/state-versions/:stateVersionId", {
      params: { stateVersionId: Schema.String },
      success: Schema.Struct({ stateVersion: StateVersion })
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/state-versions/:stateVersionId"),
        "Read a StateVersion",
        "Metadata only; the state itself never leaves."
      )
    )
  )
  .add(
    HttpApiEndpoint.post("rollbackPlan", "/api/v1/state-versions/:stateVersionId/rollback-plan", {
      params: { stateVersionId: Schema.String },
      payload: Schema.optional(RollbackPlanRequest),
      success: Schema.Struct({ run: Run }).pipe(created)
    }).annotateMerge(
      describedRun(
        accessOf("POST /api/v1/state-versions/:stateVersionId/rollback-plan"),
        "Plan a return to the revision of an earlier state",
        "Plans the commit and configuration with which that StateVersion was applied, against the current state; nothing is rolled back without review and apply. The apply pins the Capsule (`autoUpdate.pinnedBy`, with `reason`): auto-update follows no commit until somebody resumes it, or, with `resumeOnNewCommit`, until the lane stands at another commit."
      )
    )
  ) {}
