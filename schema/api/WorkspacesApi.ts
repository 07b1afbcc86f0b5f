import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { AuditEvent } from "../records/AuditEvent.ts"
import { Backup } from "../records/Backup.ts"
import { Capsule } from "../records/Capsule.ts"
import { CapsuleId, WorkspaceId } from "../records/Ids.ts"
import { WorkspaceDriftChecks } from "../records/DriftChecks.ts"
import { Interface, InterfaceMaterializationFailure } from "../records/Interface.ts"
import { AskedTime, displayText, GivenTime } from "../records/Primitives.ts"
import { FoldedRun, ListedRun, Run } from "../records/Run.ts"
import { RunGroup, SkippedCapsule } from "../records/RunGroup.ts"
import { StateVersion } from "../records/StateVersion.ts"
import { Member, MemberStatus, Project, Role, Workspace, WorkspaceHandle } from "../records/Workspace.ts"
import { created } from "./AnswerStatus.ts"
import { nextCursor, pageQuery } from "./Paging.ts"
import { wholeNumber } from "./WholeNumber.ts"
import { ExtensionFamily } from "./ExtensionFamily.ts"
import { RunFacets, runFilterQuery } from "./RunQueries.ts"

const inWorkspace = { workspaceId: Schema.String }

const AccountWorkspaceInventory = Schema.Struct({
  kind: Schema.Literal("svc.account-workspace-inventory@v1"),
  workspaces: Schema.Array(Workspace),
  total: Schema.Int,
  returned: Schema.Int,
  limit: Schema.Int,
  truncated: Schema.Boolean,
  ...nextCursor
}).annotate({ identifier: "AccountWorkspaceInventory" })

const WorkspacePage = Schema.Struct({
  workspaces: Schema.Array(Workspace),
  returned: Schema.Int,
  limit: Schema.Int,
  truncated: Schema.Boolean,
  total: Schema.optionalKey(Schema.Int),
  pinnedWorkspaceId: Schema.optionalKey(WorkspaceId),
  ...nextCursor
}).annotate({ identifier: "WorkspacePage" })

/** Metrics of stored bytes, which are measured in the background. */
const storedMetrics = ["event_bytes", "plan_bytes", "snapshot_bytes", "backup_bytes", "history_bytes"] as const

/** Maximum number of Capsules that an update may list. */
const mostChosen = 5000

const startedGroup = Schema.Struct({
  runGroup: RunGroup,
  runs: Schema.Array(Run),
  skipped: Schema.Array(SkippedCapsule)
}).pipe(created)

/** If `capsuleIds` is absent, the update plans all stale Capsules. */
class PlanUpdateRequest extends Schema.Opaque<PlanUpdateRequest>()(
  Schema.Struct({
    capsuleIds: Schema.optionalKey(Schema.Array(CapsuleId).check(Schema.isMinLength(1), Schema.isMaxLength(mostChosen)))
  })
) {}

/** Usage, retention and automation of a Workspace. */
const workspaceOperations = [
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

export class WorkspacesApi extends HttpApiGroup.make("workspaces")
  .add(
    HttpApiEndpoint.get("inventory", "/api/v1/views/workspaces.v1", {
      query: pageQuery,
      success: AccountWorkspaceInventory
    })
  )
  .add(
    HttpApiEndpoint.get("list", "/api/v1/workspaces", {
      query: {
        ...pageQuery,
        order: Schema.optionalKey(Schema.Literals(["created_asc", "updated_desc"])),
        selectedWorkspaceId: Schema.optionalKey(Schema.String),
        includeTotal: Schema.optionalKey(Schema.Literals(["true", "false"]))
      },
      success: WorkspacePage
    })
  )
  .add(
    HttpApiEndpoint.post("create", "/api/v1/workspaces", {
      payload: Schema.Struct({
        handle: WorkspaceHandle,
        displayName: Schema.optionalKey(displayText(120)),
        type: Schema.optionalKey(Schema.Literals(["personal", "organization"]))
      }),
      success: Schema.Struct({ workspace: Workspace }).pipe(created)
    })
  )
  .add(
    HttpApiEndpoint.get("read", "/api/v1/workspaces/:workspaceId", {
      params: inWorkspace,
      success: Schema.Struct({ workspace: Workspace })
    })
  )
  .add(
    HttpApiEndpoint.patch("update", "/api/v1/workspaces/:workspaceId", {
      params: inWorkspace,
      payload: Schema.Struct({
        displayName: Schema.optionalKey(displayText(120)),
        archived: Schema.optionalKey(Schema.Boolean),
        driftChecks: Schema.optionalKey(WorkspaceDriftChecks)
      }),
      success: Schema.Struct({ workspace: Workspace })
    })
  )
  .add(
    HttpApiEndpoint.post("setAutomation", "/api/v1/workspaces/:workspaceId/automation", {
      params: inWorkspace,
      payload: Schema.Struct({ paused: Schema.Boolean, reason: Schema.optionalKey(displayText(500)) }),
      success: Schema.Struct({ workspace: Workspace })
    }).annotate(ExtensionFamily, "ownership")
  )
  .add(
    HttpApiEndpoint.get("members", "/api/v1/workspaces/:workspaceId/members", {
      params: inWorkspace,
      query: pageQuery,
      success: Schema.Struct({ members: Schema.Array(Member), ...nextCursor })
    })
  )
  .add(
    HttpApiEndpoint.post("addMember", "/api/v1/workspaces/:workspaceId/members", {
      params: inWorkspace,
      payload: Schema.Struct({
        subject: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(128))),
        email: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(254))),
        automation: Schema.optionalKey(displayText(80)),
        role: Schema.optionalKey(Role)
      }),
      success: Schema.Struct({ member: Member, link: Schema.optionalKey(Schema.String) }).pipe(created)
    })
  )
  .add(
    HttpApiEndpoint.patch("updateMember", "/api/v1/workspaces/:workspaceId/members/:subject", {
      params: { ...inWorkspace, subject: Schema.String },
      payload: Schema.Struct({
        role: Schema.optionalKey(Role),
        status: Schema.optionalKey(MemberStatus),
        displayName: Schema.optionalKey(displayText(80))
      }),
      success: Schema.Struct({ member: Member })
    })
  )
  .add(
    HttpApiEndpoint.delete("removeMember", "/api/v1/workspaces/:workspaceId/members/:subject", {
      params: { ...inWorkspace, subject: Schema.String },
      success: HttpApiSchema.NoContent
    })
  )
  .add(
    HttpApiEndpoint.post("handOver", "/api/v1/workspaces/:workspaceId/ownership", {
      params: inWorkspace,
      payload: Schema.Struct({ subject: Schema.String.check(Schema.isMaxLength(128)) }),
      success: Schema.Struct({ owner: Member, previousOwner: Member })
    }).annotate(ExtensionFamily, "ownership")
  )
  .add(
    HttpApiEndpoint.get("projects", "/api/v1/workspaces/:workspaceId/projects", {
      params: inWorkspace,
      query: pageQuery,
      success: Schema.Struct({ projects: Schema.Array(Project), ...nextCursor })
    })
  )
  .add(
    HttpApiEndpoint.post("createProject", "/api/v1/workspaces/:workspaceId/projects", {
      params: inWorkspace,
      payload: Schema.Struct({
        name: displayText(80),
        slug: Schema.optionalKey(
          Schema.String.check(
            Schema.isPattern(/^[a-z0-9][a-z0-9-]{0,62}$/, { description: "a slug of a-z, 0-9 and -" })
          )
        )
      }),
      success: Schema.Struct({ project: Project }).pipe(created)
    })
  )
  .add(
    HttpApiEndpoint.get("readProject", "/api/v1/projects/:projectId", {
      params: { projectId: Schema.String },
      success: Schema.Struct({ project: Project })
    })
  )
  .add(
    HttpApiEndpoint.get("graph", "/api/v1/workspaces/:workspaceId/graph", {
      params: inWorkspace,
      success: Schema.Struct({
        nodes: Schema.Array(
          Schema.Struct({
            id: Schema.String,
            kind: Schema.Literals(["capsule", "source"]),
            name: Schema.String,
            status: Schema.String,
            environment: Schema.optionalKey(Schema.String)
          })
        ),
        edges: Schema.Array(
          Schema.Struct({ id: Schema.String, from: Schema.String, to: Schema.String, mode: Schema.String })
        )
      })
    })
  )
  .add(
    HttpApiEndpoint.get("uiSurfaces", "/api/v1/workspaces/:workspaceId/ui-surfaces", {
      params: inWorkspace,
      query: {
        capsuleId: Schema.optionalKey(Schema.String),
        limit: Schema.optionalKey(wholeNumber(1, 999_999_999)),
        cursor: Schema.optionalKey(Schema.String)
      },
      success: Schema.Struct({ interfaces: Schema.Array(Interface), ...nextCursor })
    })
  )
  .add(
    HttpApiEndpoint.get("activity", "/api/v1/workspaces/:workspaceId/activity", {
      params: inWorkspace,
      query: {
        ...pageQuery,
        action: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(80))),
        capsuleId: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(80))),
        actor: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(80))),
        runId: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(80))),
        since: Schema.optionalKey(AskedTime),
        until: Schema.optionalKey(AskedTime)
      },
      success: Schema.Struct({ events: Schema.Array(AuditEvent), ...nextCursor })
    })
  )
  .add(
    HttpApiEndpoint.get(
      "materializationFailures",
      "/api/v1/workspaces/:workspaceId/interface-materialization-failures",
      {
        params: inWorkspace,
        query: pageQuery,
        success: Schema.Struct({ failures: Schema.Array(InterfaceMaterializationFailure), ...nextCursor })
      }
    )
  )
  .add(
    HttpApiEndpoint.post(
      "retryMaterialization",
      "/api/v1/workspaces/:workspaceId/interface-materialization-failures/:intentId/retries",
      {
        params: { ...inWorkspace, intentId: Schema.String },
        payload: Schema.Struct({ expected: Schema.Struct({ attempt: Schema.Int, code: Schema.String }) }),
        success: Schema.Struct({ failure: InterfaceMaterializationFailure })
      }
    )
  )
  .add(...workspaceOperations) {}
