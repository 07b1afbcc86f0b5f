import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { Backup } from "../records/Backup.ts"
import { Capsule } from "../records/Capsule.ts"
import { CapsuleId } from "../records/Ids.ts"
import { GivenTime } from "../records/Primitives.ts"
import { FoldedRun, Run } from "../records/Run.ts"
import { RunGroup, SkippedCapsule } from "../records/RunGroup.ts"
import { StateVersion } from "../records/StateVersion.ts"
import { created, described, describedRun } from "./Endpoint.ts"
import { nextCursor, pageQuery } from "./Paging.ts"
import { accessOf } from "./Roles.ts"
import { filterSentence, mostCounted, RunFacets, runFilterQuery } from "./RunQueries.ts"

/** Bytes that are counted in the background. */
const storedMetrics = ["event_bytes", "plan_bytes", "snapshot_bytes", "backup_bytes", "history_bytes"] as const

/** Capsules that an update may be limited to. */
const mostChosen = 5000

const inWorkspace = { workspaceId: Schema.String }
const startedGroup = Schema.Struct({
  runGroup: RunGroup,
  runs: Schema.Array(Run),
  skipped: Schema.Array(SkippedCapsule)
}).pipe(created)

/** Without `capsuleIds`, all that are stale. */
export class PlanUpdateRequest extends Schema.Opaque<PlanUpdateRequest>()(
  Schema.Struct({
    capsuleIds: Schema.optionalKey(Schema.Array(CapsuleId).check(Schema.isMinLength(1), Schema.isMaxLength(mostChosen)))
  })
) {}

/** What the Workspace as a whole counts, keeps and starts. */
export const workspaceOperations = [
  HttpApiEndpoint.get("usage", "/api/v1/workspaces/:workspaceId/usage", {
    params: inWorkspace,
    success: Schema.Struct({
      usage: Schema.Array(
        Schema.Struct({
          metric: Schema.Literals(["run_minutes", "applies", "state_bytes", "log_bytes", ...storedMetrics]),
          value: Schema.Finite,
          since: Schema.optionalKey(GivenTime),
          /** When it was counted, for what is not counted anew for each request. */
          countedAt: Schema.optionalKey(GivenTime)
        })
      )
    })
  }).annotateMerge(
    described(
      accessOf("GET /api/v1/workspaces/:workspaceId/usage"),
      "Usage counted by this service",
      "Run minutes, applies, bytes of state and of logs, summed over the Workspace. Bytes of events, plans, snapshots, backups and of the operation history are counted once an hour (`countedAt`), and are absent until the first count after a start."
    )
  ),
  HttpApiEndpoint.get("billing", "/api/v1/workspaces/:workspaceId/billing", {
    params: inWorkspace,
    success: Schema.Struct({ billing: Schema.Struct({ mode: Schema.Literals(["disabled", "showback"]) }) })
  }).annotateMerge(
    described(
      accessOf("GET /api/v1/workspaces/:workspaceId/billing"),
      "Billing state",
      "`disabled` or `showback`: this service counts and never charges."
    )
  ),
  HttpApiEndpoint.get("backups", "/api/v1/workspaces/:workspaceId/backups", {
    params: inWorkspace,
    query: pageQuery,
    success: Schema.Struct({ backups: Schema.Array(Backup), ...nextCursor })
  }).annotateMerge(
    described(
      accessOf("GET /api/v1/workspaces/:workspaceId/backups"),
      "List exports of control information",
      "Digest and size of each export; the archives stay sealed on the server."
    )
  ),
  HttpApiEndpoint.post("createBackup", "/api/v1/workspaces/:workspaceId/backups", {
    params: inWorkspace,
    success: Schema.Struct({ backup: Backup }).pipe(created)
  }).annotateMerge(
    describedRun(
      accessOf("POST /api/v1/workspaces/:workspaceId/backups"),
      "Export control information, sealed",
      "Writes the records of the Workspace to a sealed archive on the server. `svc backup` makes the copy of the whole database."
    )
  ),
  HttpApiEndpoint.post("planUpdate", "/api/v1/workspaces/:workspaceId/plan-update", {
    params: inWorkspace,
    payload: Schema.optional(PlanUpdateRequest),
    success: startedGroup
  }).annotateMerge(
    describedRun(
      accessOf("POST /api/v1/workspaces/:workspaceId/plan-update"),
      "Update stale Capsules, in waves",
      "Every stale Capsule of the Workspace, or those of `capsuleIds` that are stale, each with what takes Outputs from it. 201 with the group, its `waves` and the Plan Runs of the first one: what takes Outputs of others is planned after these were applied, and left out if none that it takes has changed. Nothing is applied without approval. Capsules that refuse are named in `skipped`; if all do, the answer is the first refusal. An older update of the Workspace that is still open is cancelled (`replacedBy`)."
    )
  ),
  HttpApiEndpoint.post("driftCheck", "/api/v1/workspaces/:workspaceId/drift-check", {
    params: inWorkspace,
    success: startedGroup
  }).annotateMerge(
    describedRun(
      accessOf("POST /api/v1/workspaces/:workspaceId/drift-check"),
      "Check every active Capsule for drift",
      "201 with the group and its drift-check Runs, which change nothing. Capsules that refuse are named in `skipped`; if all do, the answer is the first refusal."
    )
  ),
  HttpApiEndpoint.get("currentStateVersions", "/api/v1/workspaces/:workspaceId/current-state-versions", {
    params: inWorkspace,
    query: pageQuery,
    success: Schema.Struct({ stateVersions: Schema.Array(StateVersion), ...nextCursor })
  }).annotateMerge(
    described(
      accessOf("GET /api/v1/workspaces/:workspaceId/current-state-versions"),
      "The current StateVersion of every Capsule",
      "Metadata only; the state itself never leaves."
    )
  ),
  HttpApiEndpoint.get("runs", "/api/v1/workspaces/:workspaceId/runs", {
    params: inWorkspace,
    query: {
      ...pageQuery,
      ...runFilterQuery,
      includeLooks: Schema.optionalKey(Schema.Literals(["true", "false"])),
      view: Schema.optionalKey(Schema.Literals(["runs", "changes"]))
    },
    success: Schema.Struct({
      runs: Schema.Array(Run),
      folded: Schema.optionalKey(Schema.Array(FoldedRun)),
      ...nextCursor
    })
  }).annotateMerge(
    described(
      accessOf("GET /api/v1/workspaces/:workspaceId/runs"),
      "List Runs, newest first",
      `${filterSentence} Looks of webhooks and schedules that found nothing new are left out, and kept for a day; \`includeLooks=true\` lists them too. \`view=changes\` lists a change once: its plan stands for it, and \`folded\` names what belongs to the plans of the page: the syncs and checks of their snapshots, the plans that they replaced, and their applies. It takes the filters \`capsuleId\`, \`sourceId\`, \`since\` and \`until\`, and is refused (400) with others, which may fit one Run of a change and not another.`
    )
  ),
  HttpApiEndpoint.get("runFacets", "/api/v1/workspaces/:workspaceId/run-facets", {
    params: inWorkspace,
    query: runFilterQuery,
    success: Schema.Struct({ facets: RunFacets })
  }).annotateMerge(
    described(
      accessOf("GET /api/v1/workspaces/:workspaceId/run-facets"),
      "Count Runs by what they can be filtered by",
      `Takes the filters of the list of Runs. Each facet is counted with the other filters and without its own, so that it says what choosing a value would show. Of the Runs that fit \`search\`, \`sourceId\`, \`since\` and \`until\` the newest ${mostCounted.toLocaleString("en")} are counted; \`complete\` is false if there are more.`
    )
  ),
  HttpApiEndpoint.get("capsules", "/api/v1/workspaces/:workspaceId/capsules", {
    params: inWorkspace,
    query: {
      ...pageQuery,
      projectId: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(80))),
      status: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(20)))
    },
    success: Schema.Struct({ capsules: Schema.Array(Capsule), ...nextCursor })
  }).annotateMerge(
    described(
      accessOf("GET /api/v1/workspaces/:workspaceId/capsules"),
      "List Capsules",
      "Filters: `projectId`, `status`."
    )
  )
] as const
