import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { Backup } from "../records/Backup.ts"
import { Capsule } from "../records/Capsule.ts"
import { CapsuleId } from "../records/Ids.ts"
import { GivenTime } from "../records/Primitives.ts"
import { FoldedRun, ListedRun, Run } from "../records/Run.ts"
import { RunGroup, SkippedCapsule } from "../records/RunGroup.ts"
import { StateVersion } from "../records/StateVersion.ts"
import { created } from "./AnswerStatus.ts"
import { nextCursor, pageQuery } from "./Paging.ts"
import { RunFacets, runFilterQuery } from "./RunQueries.ts"
import { ExtensionFamily } from "./ExtensionFamily.ts"

/** Metrics of stored bytes, which are measured in the background. */
const storedMetrics = ["event_bytes", "plan_bytes", "snapshot_bytes", "backup_bytes", "history_bytes"] as const

/** Maximum number of Capsules that an update may list. */
const mostChosen = 5000

const inWorkspace = { workspaceId: Schema.String }
const startedGroup = Schema.Struct({
  runGroup: RunGroup,
  runs: Schema.Array(Run),
  skipped: Schema.Array(SkippedCapsule)
}).pipe(created)

/** If `capsuleIds` is absent, the update plans all stale Capsules. */
export class PlanUpdateRequest extends Schema.Opaque<PlanUpdateRequest>()(
  Schema.Struct({
    capsuleIds: Schema.optionalKey(Schema.Array(CapsuleId).check(Schema.isMinLength(1), Schema.isMaxLength(mostChosen)))
  })
) {}

/** Usage, retention and automation of a Workspace. */
export const workspaceOperations = [
  HttpApiEndpoint.get("usage", "/api/v1/workspaces/:workspaceId/usage", {
    params: inWorkspace,
    success: Schema.Struct({
      usage: Schema.Array(
        Schema.Struct({
          metric: Schema.Literals(["run_minutes", "applies", "state_bytes", "log_bytes", ...storedMetrics]),
          value: Schema.Finite,
          since: Schema.optionalKey(GivenTime),
          /** Time of the measurement; absent if the metric is computed for each request. */
          countedAt: Schema.optionalKey(GivenTime)
        })
      )
    })
  }),
  HttpApiEndpoint.get("billing", "/api/v1/workspaces/:workspaceId/billing", {
    params: inWorkspace,
    success: Schema.Struct({ billing: Schema.Struct({ mode: Schema.Literals(["disabled", "showback"]) }) })
  }),
  HttpApiEndpoint.get("backups", "/api/v1/workspaces/:workspaceId/backups", {
    params: inWorkspace,
    query: pageQuery,
    success: Schema.Struct({ backups: Schema.Array(Backup), ...nextCursor })
  }),
  HttpApiEndpoint.post("createBackup", "/api/v1/workspaces/:workspaceId/backups", {
    params: inWorkspace,
    success: Schema.Struct({ backup: Backup }).pipe(created)
  }),
  HttpApiEndpoint.post("planUpdate", "/api/v1/workspaces/:workspaceId/plan-update", {
    params: inWorkspace,
    payload: Schema.optional(PlanUpdateRequest),
    success: startedGroup
  }),
  HttpApiEndpoint.post("driftCheck", "/api/v1/workspaces/:workspaceId/drift-check", {
    params: inWorkspace,
    success: startedGroup
  }),
  HttpApiEndpoint.get("currentStateVersions", "/api/v1/workspaces/:workspaceId/current-state-versions", {
    params: inWorkspace,
    query: pageQuery,
    success: Schema.Struct({ stateVersions: Schema.Array(StateVersion), ...nextCursor })
  }),
  HttpApiEndpoint.get("runs", "/api/v1/workspaces/:workspaceId/runs", {
    params: inWorkspace,
    query: {
      ...pageQuery,
      ...runFilterQuery,
      includeLooks: Schema.optionalKey(Schema.Literals(["true", "false"])),
      view: Schema.optionalKey(Schema.Literals(["runs", "changes"]))
    },
    success: Schema.Struct({
      runs: Schema.Array(ListedRun),
      folded: Schema.optionalKey(Schema.Array(FoldedRun)),
      ...nextCursor
    })
  }),
  HttpApiEndpoint.get("runFacets", "/api/v1/workspaces/:workspaceId/run-facets", {
    params: inWorkspace,
    query: runFilterQuery,
    success: Schema.Struct({ facets: RunFacets })
  }).annotate(ExtensionFamily, "run-search"),
  HttpApiEndpoint.get("capsules", "/api/v1/workspaces/:workspaceId/capsules", {
    params: inWorkspace,
    query: {
      ...pageQuery,
      projectId: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(80))),
      status: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(20)))
    },
    success: Schema.Struct({ capsules: Schema.Array(Capsule), ...nextCursor })
  })
] as const
