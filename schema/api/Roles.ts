import type { Role } from "../records/Workspace.ts"
import {
  type AccessRule,
  accountAccess,
  ownerAccess,
  publicAccess,
  sessionAccess,
  wholeAccountAccess,
  type WorkspaceAccess,
  workspaceAccess,
  type WorkspaceLocator
} from "./Access.ts"
import type { SvcApi } from "./SvcApi.ts"

type Groups = (typeof SvcApi)["groups"]
type RoutesOf<Endpoints> = {
  [Id in keyof Endpoints]: Endpoints[Id] extends {
    readonly method: infer Method extends string
    readonly path: infer Path extends string
  }
    ? `${Method} ${Path}`
    : never
}[keyof Endpoints]

/** Method and path of every route of the API. */
export type Route = { [Id in keyof Groups]: RoutesOf<Groups[Id]["endpoints"]> }[keyof Groups]

type Options = Pick<
  WorkspaceAccess,
  "session" | "archived" | "confirmed" | "action" | "limited" | "records" | "rebinds"
>

const atLeast =
  (role: Role) =>
  (locate: WorkspaceLocator, options: Options = {}): AccessRule => ({ ...workspaceAccess(role, locate), ...options })

const viewer = atLeast("viewer")
const member = atLeast("member")
const admin = atLeast("admin")
const owner = atLeast("owner")

/**
 * The callers permitted for each route. This is the only such table, and a route without an entry does not compile. A role
 * includes all lower roles. The argument in parentheses is the field of the request that identifies the Workspace. A viewer
 * can read; a member can also plan; an admin can also approve, apply, and manage Connections and members; an owner can do
 * everything. On routes for a Capsule or one of its Runs, the caller's teams may add roles for the Capsule's Project and
 * environment. Approval rules may require more than the role given here for `approve` and `apply`, see
 * `actors/access/approval/ApproverEligibility.ts`.
 */
export const accessTable = {
  // Discovery
  "GET /.well-known/svc": publicAccess,
  "GET /api/v1/capabilities": publicAccess,
  "GET /api/v1/extensions": publicAccess,

  // Personal access tokens
  "GET /api/v1/account/tokens": ownerAccess,
  "GET /api/v1/account/tokens/scopes": ownerAccess,
  "POST /api/v1/account/tokens": ownerAccess,
  "POST /api/v1/account/tokens/:tokenId/revoke": ownerAccess,
  "GET /api/v1/account/tokens/inventory.v1": ownerAccess,
  "GET /api/v1/account/tokens/current": { kind: "token" },

  // Workspaces, members, Projects, and a Workspace's lists and updates
  "GET /api/v1/views/workspaces.v1": ownerAccess,
  "GET /api/v1/workspaces": accountAccess,
  "POST /api/v1/workspaces": wholeAccountAccess,
  "GET /api/v1/workspaces/:workspaceId": viewer("path.workspaceId", { limited: "open" }),
  "PATCH /api/v1/workspaces/:workspaceId": owner("path.workspaceId", { archived: "open" }),
  "POST /api/v1/workspaces/:workspaceId/automation": admin("path.workspaceId"),
  "GET /api/v1/workspaces/:workspaceId/members": viewer("path.workspaceId"),
  "POST /api/v1/workspaces/:workspaceId/members": admin("path.workspaceId"),
  "PATCH /api/v1/workspaces/:workspaceId/members/:subject": admin("path.workspaceId"),
  // Viewers may leave. The command lets only admins remove other members.
  "DELETE /api/v1/workspaces/:workspaceId/members/:subject": viewer("path.workspaceId", { archived: "open" }),
  // Lists the work that a removal would stop. Available to owners, admins, and members who are considering leaving.
  "GET /api/v1/workspaces/:workspaceId/members/:subject/departure": viewer("path.workspaceId"),
  "GET /api/v1/workspaces/:workspaceId/members/:subject/tokens": viewer("path.workspaceId"),
  "POST /api/v1/workspaces/:workspaceId/members/:subject/tokens": admin("path.workspaceId", { confirmed: true }),
  "POST /api/v1/workspaces/:workspaceId/members/:subject/tokens/:tokenId/revoke": admin("path.workspaceId", {
    archived: "open"
  }),
  "POST /api/v1/workspaces/:workspaceId/ownership": owner("path.workspaceId", { confirmed: true }),
  "GET /api/v1/workspaces/:workspaceId/invitations": viewer("path.workspaceId"),
  "POST /api/v1/workspaces/:workspaceId/invitations": admin("path.workspaceId"),
  "POST /api/v1/workspaces/:workspaceId/invitations/:invitationId/revoke": admin("path.workspaceId", {
    archived: "open"
  }),
  "GET /api/v1/workspaces/:workspaceId/teams": viewer("path.workspaceId"),
  "POST /api/v1/workspaces/:workspaceId/teams": owner("path.workspaceId"),
  "PATCH /api/v1/workspaces/:workspaceId/teams/:teamId": owner("path.workspaceId"),
  "DELETE /api/v1/workspaces/:workspaceId/teams/:teamId": owner("path.workspaceId"),
  "GET /api/v1/workspaces/:workspaceId/approval-rules": viewer("path.workspaceId"),
  "POST /api/v1/workspaces/:workspaceId/approval-rules": owner("path.workspaceId"),
  "PATCH /api/v1/workspaces/:workspaceId/approval-rules/:ruleId": owner("path.workspaceId"),
  "DELETE /api/v1/workspaces/:workspaceId/approval-rules/:ruleId": owner("path.workspaceId"),
  "POST /api/v1/invitations/inspect": publicAccess,
  "POST /api/v1/invitations/accept": ownerAccess,
  "POST /api/v1/invitations/decline": publicAccess,
  "GET /api/v1/workspaces/:workspaceId/projects": viewer("path.workspaceId"),
  "POST /api/v1/workspaces/:workspaceId/projects": admin("path.workspaceId"),
  "GET /api/v1/projects/:projectId": viewer("path.projectId"),
  "GET /api/v1/workspaces/:workspaceId/graph": viewer("path.workspaceId"),
  "GET /api/v1/workspaces/:workspaceId/ui-surfaces": viewer("path.workspaceId", { session: true }),
  "GET /api/v1/workspaces/:workspaceId/activity": viewer("path.workspaceId"),
  "GET /api/v1/workspaces/:workspaceId/audit-events": owner("path.workspaceId"),
  "GET /api/v1/workspaces/:workspaceId/audit-head": owner("path.workspaceId"),
  "GET /api/v1/workspaces/:workspaceId/interface-materialization-failures": viewer("path.workspaceId"),
  "POST /api/v1/workspaces/:workspaceId/interface-materialization-failures/:intentId/retries":
    admin("path.workspaceId"),
  "GET /api/v1/workspaces/:workspaceId/usage": viewer("path.workspaceId"),
  "GET /api/v1/workspaces/:workspaceId/billing": viewer("path.workspaceId"),
  "GET /api/v1/workspaces/:workspaceId/backups": viewer("path.workspaceId"),
  "POST /api/v1/workspaces/:workspaceId/backups": admin("path.workspaceId"),
  "POST /api/v1/workspaces/:workspaceId/plan-update": member("path.workspaceId"),
  "POST /api/v1/workspaces/:workspaceId/drift-check": member("path.workspaceId"),
  "GET /api/v1/workspaces/:workspaceId/current-state-versions": viewer("path.workspaceId"),
  "GET /api/v1/workspaces/:workspaceId/runs": viewer("path.workspaceId"),
  "GET /api/v1/workspaces/:workspaceId/agent-pools": viewer("path.workspaceId"),
  "GET /api/v1/workspaces/:workspaceId/agents": viewer("path.workspaceId"),
  "GET /api/v1/workspaces/:workspaceId/run-facets": viewer("path.workspaceId"),
  "GET /api/v1/workspaces/:workspaceId/capsules": viewer("path.workspaceId", { limited: "open" }),

  // Install plans
  "POST /api/v1/workspaces/:workspaceId/install-plans": member("path.workspaceId"),
  "POST /api/v1/workspaces/:workspaceId/state-uploads": owner("path.workspaceId"),
  "POST /api/v1/workspaces/:workspaceId/backup-uploads": owner("path.workspaceId"),
  "GET /api/v1/install-plans/:installPlanId": viewer("path.installPlanId"),
  "POST /api/v1/install-plans/:installPlanId/reconcile": member("path.installPlanId"),

  // Revision plans
  "POST /api/v1/capsules/:capsuleId/revision-plans": member("path.capsuleId"),
  "GET /api/v1/revision-plans/:revisionPlanId": viewer("path.revisionPlanId"),
  "POST /api/v1/revision-plans/:revisionPlanId/reconcile": member("path.revisionPlanId"),

  // Capsules
  "GET /api/v1/capsules/:capsuleId": viewer("path.capsuleId"),
  "PATCH /api/v1/capsules/:capsuleId": admin("path.capsuleId"),
  "DELETE /api/v1/capsules/:capsuleId": admin("path.capsuleId"),
  "POST /api/v1/capsules/:capsuleId/release": owner("path.capsuleId"),
  "POST /api/v1/capsules/:capsuleId/import-confirmation": owner("path.capsuleId", { confirmed: true }),
  "GET /api/v1/capsules/:capsuleId/outputs": viewer("path.capsuleId"),
  "GET /api/v1/capsules/:capsuleId/usage-summary": viewer("path.capsuleId"),
  "GET /api/v1/capsules/:capsuleId/state-versions": viewer("path.capsuleId"),
  "GET /api/v1/capsules/:capsuleId/resources": viewer("path.capsuleId"),
  "GET /api/v1/capsules/:capsuleId/resource-history": viewer("path.capsuleId"),
  "GET /api/v1/capsules/:capsuleId/left-over-states": viewer("path.capsuleId"),
  "GET /api/v1/capsules/:capsuleId/left-over-states/:leftOverStateId": viewer("path.capsuleId"),
  "POST /api/v1/capsules/:capsuleId/left-over-states/:leftOverStateId/adopt": owner("path.capsuleId"),
  "DELETE /api/v1/capsules/:capsuleId/left-over-states/:leftOverStateId": owner("path.capsuleId"),
  "GET /api/v1/capsules/:capsuleId/auto-update-decisions": viewer("path.capsuleId"),
  "GET /api/v1/capsules/:capsuleId/dependencies": viewer("path.capsuleId"),
  "POST /api/v1/capsules/:capsuleId/dependencies": admin("path.capsuleId", { limited: "refused" }),
  "DELETE /api/v1/dependencies/:dependencyId": admin("path.dependencyId"),
  "GET /api/v1/capsules/:capsuleId/provider-bindings": viewer("path.capsuleId"),
  "PUT /api/v1/capsules/:capsuleId/provider-bindings": member("path.capsuleId"),
  "GET /api/v1/capsule-configs": viewer("query.workspaceId"),
  "GET /api/v1/capsule-configs/:capsuleConfigId": viewer("path.capsuleConfigId"),
  "PATCH /api/v1/capsule-configs/:capsuleConfigId": member("path.capsuleConfigId"),
  "POST /api/v1/capsules/:capsuleId/plan": member("path.capsuleId"),
  "POST /api/v1/capsules/:capsuleId/look": member("path.capsuleId"),
  "POST /api/v1/capsules/:capsuleId/configuration-plans": admin("path.capsuleId", {
    records: { "providerBindings[].connectionId": "boundConnection" }
  }),
  "POST /api/v1/capsules/:capsuleId/reconcile-plan": member("path.capsuleId"),
  "POST /api/v1/capsules/:capsuleId/destroy-plan": member("path.capsuleId"),
  "POST /api/v1/capsules/:capsuleId/drift-check": member("path.capsuleId"),
  "POST /api/v1/capsules/:capsuleId/backups": admin("path.capsuleId"),
  "GET /api/v1/backups/:backupId/archive": owner("path.backupId", { confirmed: true }),
  "POST /api/v1/backups/:backupId/restore-plan": owner("path.backupId", {
    records: { capsuleId: "capsule" },
    rebinds: "backup"
  }),
  "POST /api/v1/capsules/:capsuleId/exports": owner("path.capsuleId", {
    confirmed: true,
    action: "capsule.export"
  }),
  // The link works only for the credential that requested it.
  "GET /api/v1/capsules/:capsuleId/exports/:exportLink": owner("path.capsuleId"),
  "POST /api/v1/confirmations": member("body.workspaceId"),
  "POST /api/v1/confirmations/poll": member("body.workspaceId"),
  "POST /api/v1/capsules/:capsuleId/install-config-re-adoptions": admin("path.capsuleId", {
    records: { baseInstallConfigId: "configuration", sourceSnapshotId: "snapshot" }
  }),

  // Sources
  "GET /api/v1/sources": viewer("query.workspaceId"),
  "POST /api/v1/sources": member("body.workspaceId"),
  "GET /api/v1/sources/:sourceId": viewer("path.sourceId"),
  "PATCH /api/v1/sources/:sourceId": member("path.sourceId"),
  "DELETE /api/v1/sources/:sourceId": member("path.sourceId"),
  "POST /api/v1/sources/:sourceId/hook-secret": member("path.sourceId", {
    confirmed: true,
    action: "source.hook_secret.renew"
  }),
  "POST /api/v1/sources/:sourceId/sync": member("path.sourceId"),
  "POST /api/v1/sources/:sourceId/revisions": member("path.sourceId"),
  "GET /api/v1/workspaces/:workspaceId/pull-requests": viewer("path.workspaceId"),
  "GET /api/v1/capsules/:capsuleId/pull-requests": viewer("path.capsuleId"),
  "GET /api/v1/pull-requests/:pullRequestId": viewer("path.pullRequestId"),
  "POST /api/v1/pull-requests/:pullRequestId/plan": admin("path.pullRequestId"),
  "GET /api/v1/sources/:sourceId/snapshots": viewer("path.sourceId"),
  "GET /api/v1/sources/:sourceId/snapshots/:sourceSnapshotId/install-modules": viewer("path.sourceId", {
    session: true
  }),
  "GET /api/v1/sources/:sourceId/snapshots/:sourceSnapshotId/file": viewer("path.sourceId"),
  "POST /api/v1/sources/:sourceId/compatibility-check": member("path.sourceId"),
  "GET /api/v1/compatibility-reports/:reportId": viewer("path.reportId"),
  "POST /api/v1/workspaces/:workspaceId/source-ref-resolutions/stable-semver": viewer("path.workspaceId"),

  // Runs and StateVersions
  "GET /api/v1/runs/:runId": viewer("path.runId"),
  "GET /api/v1/runs/:runId/approvals": viewer("path.runId"),
  "POST /api/v1/runs/:runId/approval-requests": member("path.runId"),
  "POST /api/v1/runs/:runId/approve": admin("path.runId"),
  "POST /api/v1/runs/:runId/apply": admin("path.runId"),
  "POST /api/v1/runs/:runId/cancel": member("path.runId"),
  // Requires the same role as applying a destroy plan, because the lost apply may leave objects behind.
  "POST /api/v1/runs/:runId/release": admin("path.runId"),
  "GET /api/v1/runs/:runId/logs": viewer("path.runId"),
  "GET /api/v1/runs/:runId/events": viewer("path.runId"),
  "GET /api/v1/runs/:runId/cost": viewer("path.runId"),
  "GET /api/v1/runs/:runId/source-changes": viewer("path.runId"),
  "GET /api/v1/runs/:runId/change-causes": viewer("path.runId"),
  "GET /api/v1/runs/:runId/change-approvals": viewer("path.runId"),
  "POST /api/v1/runs/:runId/change-approvals": admin("path.runId"),
  "DELETE /api/v1/runs/:runId/change-approvals/:changeApprovalId": admin("path.runId"),
  "GET /api/v1/runs/:runId/comments": viewer("path.runId"),
  "POST /api/v1/runs/:runId/comments": member("path.runId", { records: { "mentions[]": "person" } }),
  "DELETE /api/v1/runs/:runId/comments/:commentId": member("path.runId"),
  "GET /api/v1/run-groups/:runGroupId": viewer("path.runGroupId"),
  "POST /api/v1/run-groups/:runGroupId/approve": admin("path.runGroupId"),
  "POST /api/v1/run-groups/:runGroupId/cancel": member("path.runGroupId"),
  "GET /api/v1/state-versions/:stateVersionId": viewer("path.stateVersionId"),
  "GET /api/v1/state-versions/:stateVersionId/difference": viewer("path.stateVersionId"),
  "POST /api/v1/state-versions/:stateVersionId/rollback-plan": member("path.stateVersionId", {
    rebinds: "stateVersion"
  }),

  // Connections and Output sharing
  "GET /api/v1/connections": viewer("query.workspaceId"),
  "POST /api/v1/connections": admin("body.workspaceId"),
  "POST /api/v1/connections/:connectionId/test": admin("path.connectionId"),
  "GET /api/v1/connections/:connectionId": viewer("path.connectionId"),
  "PATCH /api/v1/connections/:connectionId": admin("path.connectionId"),
  "DELETE /api/v1/connections/:connectionId": admin("path.connectionId"),
  "POST /api/v1/connections/:connectionId/origins/confirm": admin("path.connectionId"),
  "POST /api/v1/connections/:connectionId/revoke": admin("path.connectionId"),
  "POST /api/v1/connections/oauth/:helperId/start": admin("body.workspaceId"),
  "GET /api/v1/connections/oauth/:helperId/callback": accountAccess,
  "POST /api/v1/connections/github-app/start": admin("body.workspaceId", { session: true }),
  "GET /api/v1/connections/github-app/form": sessionAccess,
  "GET /api/v1/connections/github-app/callback": sessionAccess,
  "GET /api/v1/provider-connections": viewer("query.workspaceId"),
  "GET /api/v1/credential-recipes": accountAccess,
  "GET /api/v1/output-shares": viewer("query.workspaceId"),
  "POST /api/v1/output-shares": admin("body.fromWorkspaceId"),
  "POST /api/v1/output-shares/:shareId/approve": admin("path.shareId"),
  "POST /api/v1/output-shares/:shareId/revoke": admin("path.shareId"),

  // Notices
  "GET /api/v1/workspaces/:workspaceId/notice-endpoints": admin("path.workspaceId"),
  "POST /api/v1/workspaces/:workspaceId/notice-endpoints": admin("path.workspaceId"),
  "GET /api/v1/workspaces/:workspaceId/notice-endpoints/:endpointId": admin("path.workspaceId"),
  "PATCH /api/v1/workspaces/:workspaceId/notice-endpoints/:endpointId": admin("path.workspaceId"),
  "DELETE /api/v1/workspaces/:workspaceId/notice-endpoints/:endpointId": admin("path.workspaceId"),
  "POST /api/v1/workspaces/:workspaceId/notice-endpoints/:endpointId/secret": admin("path.workspaceId"),
  "POST /api/v1/workspaces/:workspaceId/notice-endpoints/:endpointId/test": admin("path.workspaceId"),
  "GET /api/v1/workspaces/:workspaceId/notice-endpoints/:endpointId/deliveries": admin("path.workspaceId"),
  "GET /api/v1/workspaces/:workspaceId/notice-endpoints/:endpointId/deliveries/:deliveryId": admin("path.workspaceId"),
  "POST /api/v1/workspaces/:workspaceId/notice-endpoints/:endpointId/deliveries/:deliveryId/replay":
    admin("path.workspaceId"),
  "GET /api/v1/account/notice-mails": ownerAccess,
  "PUT /api/v1/account/notice-mails": ownerAccess,

  // The dashboard
  "GET /api/v1/dashboard/bootstrap": accountAccess,
  "GET /api/v1/dashboard/overview": viewer("query.workspaceId"),
  "GET /api/v1/dashboard/needs": viewer("query.workspaceId"),
  "GET /api/v1/dashboard/latest-runs": viewer("query.workspaceId")
} satisfies Readonly<Record<Route, AccessRule>>

const rules: ReadonlyMap<string, AccessRule> = new Map(Object.entries(accessTable))

/** Returns the access rule of an endpoint. */
export const accessOf = ({ method, path }: { readonly method: string; readonly path: string }): AccessRule => {
  const rule = rules.get(`${method} ${path}`)
  if (rule === undefined) throw new Error(`${method} ${path} has no row in accessTable. Say there who may call it.`)
  return rule
}
