import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { AuditEvent } from "../records/AuditEvent.ts"
import { WorkspaceId } from "../records/Ids.ts"
import { WorkspaceDriftChecks } from "../records/DriftChecks.ts"
import { Interface, InterfaceMaterializationFailure } from "../records/Interface.ts"
import { AskedTime, displayText } from "../records/Primitives.ts"
import { Member, MemberStatus, Project, Role, Workspace, WorkspaceHandle } from "../records/Workspace.ts"
import { created, described, describedGroup } from "./Endpoint.ts"
import { nextCursor, pageQuery } from "./Paging.ts"
import { accessOf } from "./Roles.ts"
import { wholeNumber } from "./WholeNumber.ts"
import { workspaceOperations } from "./WorkspaceOperations.ts"

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

export class WorkspacesApi extends describedGroup(
  "workspaces",
  "Workspaces, their Projects and what is listed by Workspace."
)
  .add(
    HttpApiEndpoint.get("inventory", "/api/v1/views/workspaces.v1", {
      query: pageQuery,
      success: AccountWorkspaceInventory
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/views/workspaces.v1"),
        "Inventory of the account's active memberships",
        "Accepts `limit` and `cursor` only; whose it is comes from the account session alone, every other credential is refused with 403."
      )
    )
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
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/workspaces"),
        "List Workspaces of the caller",
        "Creates the personal Workspace at first sign-in. `selectedWorkspaceId` adds that Workspace to the first page and names it in `pinnedWorkspaceId`."
      )
    )
  )
  .add(
    HttpApiEndpoint.post("create", "/api/v1/workspaces", {
      payload: Schema.Struct({
        handle: WorkspaceHandle,
        displayName: Schema.optionalKey(displayText(120)),
        type: Schema.optionalKey(Schema.Literals(["personal", "organization"]))
      }),
      success: Schema.Struct({ workspace: Workspace }).pipe(created)
    }).annotateMerge(
      described(
        accessOf("POST /api/v1/workspaces"),
        "Create a Workspace",
        "The caller becomes its owner. A handle is lower case, unique on the server and never changes; one that is taken is 409."
      )
    )
  )
  .add(
    HttpApiEndpoint.get("read", "/api/v1/workspaces/:workspaceId", {
      params: inWorkspace,
      success: Schema.Struct({ workspace: Workspace })
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/workspaces/:workspaceId"),
        "Read a Workspace",
        "Includes the caller's own `role`. Archived Workspaces can be read."
      )
    )
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
    }).annotateMerge(
      described(
        accessOf("PATCH /api/v1/workspaces/:workspaceId"),
        "Rename, archive or restore a Workspace, or set how often it checks for drift",
        "`driftChecks` holds for every Capsule that makes no choice of its own; the checks use Connections on the authority of who set it. An archived Workspace can be read, restored and left; everything else in it answers 409 until it is restored."
      )
    )
  )
  .add(
    HttpApiEndpoint.post("setAutomation", "/api/v1/workspaces/:workspaceId/automation", {
      params: inWorkspace,
      payload: Schema.Struct({ paused: Schema.Boolean, reason: Schema.optionalKey(displayText(500)) }),
      success: Schema.Struct({ workspace: Workspace })
    }).annotateMerge(
      described(
        accessOf("POST /api/v1/workspaces/:workspaceId/automation"),
        "Pause or resume all automation",
        "While it is paused nothing is planned or applied without a person in this Workspace: no auto-update, no next wave of a group, no scheduled drift check. Webhooks and schedules go on looking at Sources, so that Capsules become `stale`. What already runs ends; an automatic apply that has not started is cancelled. `automationPause` of the Workspace says since when, by whom and why; the first pause stands until somebody resumes. What was passed over meanwhile is decided anew within a minute of the resume."
      )
    )
  )
  .add(
    HttpApiEndpoint.get("members", "/api/v1/workspaces/:workspaceId/members", {
      params: inWorkspace,
      query: pageQuery,
      success: Schema.Struct({ members: Schema.Array(Member), ...nextCursor })
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/workspaces/:workspaceId/members"),
        "List members",
        "Suspended members are listed with their status. Who is invited by address or subject is listed as `invited`: for an address with a `subject` of its own that belongs to no account, whether or not one has the address."
      )
    )
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
    }).annotateMerge(
      described(
        accessOf("POST /api/v1/workspaces/:workspaceId/members"),
        "Invite a member, or make an automation",
        "Name exactly one of `subject`, `email` and `automation`. Role defaults to `member`; only owners add owners. Nobody becomes a member without having accepted: the answer is the same whether or not the address has an account, its `member` has the status `invited`, and `link` is shown this once. Only an account for which the address was verified, or the named account, can accept. Inviting the same person again ends the earlier link; an active member is 409. `automation` gives the name of a member of the kind `automation`, which is active at once and has no `link`: it never signs in, acts by tokens that owners and admins make for it, and has `admin` at most."
      )
    )
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
    }).annotateMerge(
      described(
        accessOf("PATCH /api/v1/workspaces/:workspaceId/members/:subject"),
        "Change a member's role or status, or rename an automation",
        "Only owners change roles; the last owner cannot be lowered or suspended (409). Somebody who left, or has not accepted yet, cannot be made active (409). `displayName` renames an automation; people name themselves (400)."
      )
    )
  )
  .add(
    HttpApiEndpoint.delete("removeMember", "/api/v1/workspaces/:workspaceId/members/:subject", {
      params: { ...inWorkspace, subject: Schema.String },
      success: HttpApiSchema.NoContent
    }).annotateMerge(
      described(
        accessOf("DELETE /api/v1/workspaces/:workspaceId/members/:subject"),
        "Remove a member, or leave",
        "Suspends the membership at once on every surface; the last owner stays (409). Everybody may remove themselves; removing others needs the role admin, or owner for an owner. The subject of somebody who is `invited` withdraws the invitation. The tokens of a removed automation are revoked."
      )
    )
  )
  .add(
    HttpApiEndpoint.post("handOver", "/api/v1/workspaces/:workspaceId/ownership", {
      params: inWorkspace,
      payload: Schema.Struct({ subject: Schema.String.check(Schema.isMaxLength(128)) }),
      success: Schema.Struct({ owner: Member, previousOwner: Member })
    }).annotateMerge(
      described(
        accessOf("POST /api/v1/workspaces/:workspaceId/ownership"),
        "Hand over the Workspace",
        "Makes another active member (409 for anybody else) an owner and the caller an admin, in one transaction. Other owners stay owners."
      )
    )
  )
  .add(
    HttpApiEndpoint.get("projects", "/api/v1/workspaces/:workspaceId/projects", {
      params: inWorkspace,
      query: pageQuery,
      success: Schema.Struct({ projects: Schema.Array(Project), ...nextCursor })
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/workspaces/:workspaceId/projects"),
        "List Projects",
        "Every Workspace starts with one Project, `default`."
      )
    )
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
    }).annotateMerge(
      described(
        accessOf("POST /api/v1/workspaces/:workspaceId/projects"),
        "Create a Project",
        "`slug` is made from the name when absent; a given one that is taken in the Workspace is 409."
      )
    )
  )
  .add(
    HttpApiEndpoint.get("readProject", "/api/v1/projects/:projectId", {
      params: { projectId: Schema.String },
      success: Schema.Struct({ project: Project })
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/projects/:projectId"),
        "Read a Project",
        "A Project groups Capsules of one Workspace; within it no two have the same name and environment."
      )
    )
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
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/workspaces/:workspaceId/graph"),
        "Capsule dependency graph",
        "Capsules and Sources as nodes; an edge leads from what is needed to what needs it, with the `mode` of the dependency."
      )
    )
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
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/workspaces/:workspaceId/ui-surfaces"),
        "Interfaces that the signed-in person may open",
        "`limit` defaults to 100 and is clamped to 100. Reads only."
      )
    )
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
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/workspaces/:workspaceId/activity"),
        "Operation history, newest first",
        "Append-only and value-free: who did what to which record, when. Filters: `action`, `capsuleId`, `actor` (a subject), `runId`, `since` (inclusive) and `until` (exclusive), in UTC with milliseconds or whole seconds."
      )
    )
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
    ).annotateMerge(
      described(
        accessOf("GET /api/v1/workspaces/:workspaceId/interface-materialization-failures"),
        "Value-free failures of Interface materialisation",
        "What could not be made of the Outputs of an apply: code and attempt, never a value."
      )
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
    ).annotateMerge(
      described(
        accessOf("POST /api/v1/workspaces/:workspaceId/interface-materialization-failures/:intentId/retries"),
        "Retry a failed materialisation",
        "Accepted only while the failure is exactly the expected one (409 otherwise)."
      )
    )
  )
  .add(...workspaceOperations) {}
