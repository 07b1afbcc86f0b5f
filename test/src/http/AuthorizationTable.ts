import type { ConfirmableAction } from "../../../schema/records/ActionConfirmation.ts"

/**
 * The permitted callers of each route, written by hand from the roles of members (specification, ruling 2). Nothing here is
 * derived from the code: `AuthorizationTable.test.ts` checks both the declarations and the API's responses against this table.
 * Add a row for every new route.
 *
 * `ok` means that the caller is admitted, `401` that a credential is required, `403` that the caller is refused, and `409`
 * that the Workspace is archived. The callers, all of whom use Workspace A:
 *
 * - `anon`: nobody
 * - `view`, `memb`, `admn`, `ownr`: a viewer, a member, an admin and an owner
 * - `othr`: an owner of another Workspace
 * - `susp`: a suspended owner
 * - `oper`: an operator without a membership
 * - `conf`: the owner's session, confined to Workspace A
 * - `pat`: the owner's personal access token, read and write
 * - `p-r`, `p-w`: the same token with `read` or `write` alone
 * - `p-A`, `p-B`: the same token bound to Workspace A, or to another Workspace
 * - `p-v`: the viewer's personal access token, read and write
 * - `arch`: the owner, while the Workspace is archived
 *
 * The last column lists the body fields that identify a record, such as a Connection. A token limited to Projects or environments
 * gets 403 when such a field identifies a record outside its limits.
 */
const table = `
route                                                                                        anon view memb admn ownr | othr susp oper | conf pat  p-r  p-w  p-A  p-B  p-v  | arch | records

# Discovery
GET    /.well-known/svc                                                                      ok   ok   ok   ok   ok   | ok   ok   ok   | ok   ok   ok   ok   ok   ok   ok   | ok
GET    /api/v1/capabilities                                                                  ok   ok   ok   ok   ok   | ok   ok   ok   | ok   ok   ok   ok   ok   ok   ok   | ok
GET    /api/v1/extensions                                                                    ok   ok   ok   ok   ok   | ok   ok   ok   | ok   ok   ok   ok   ok   ok   ok   | ok

# The account itself
GET    /api/v1/account/tokens                                                                401  ok   ok   ok   ok   | ok   ok   ok   | 403  403  403  403  403  403  403  | ok
POST   /api/v1/account/tokens                                                                401  ok   ok   ok   ok   | ok   ok   ok   | 403  403  403  403  403  403  403  | ok   | workspace_id
GET    /api/v1/account/tokens/scopes                                                         401  ok   ok   ok   ok   | ok   ok   ok   | 403  403  403  403  403  403  403  | ok
GET    /api/v1/account/tokens/inventory.v1                                                   401  ok   ok   ok   ok   | ok   ok   ok   | 403  403  403  403  403  403  403  | ok
POST   /api/v1/account/tokens/:tokenId/revoke                                                401  ok   ok   ok   ok   | ok   ok   ok   | 403  403  403  403  403  403  403  | ok
GET    /api/v1/account/tokens/current                                                        401  401  401  401  401  | 401  401  401  | 401  ok   ok   ok   ok   ok   ok   | 401
GET    /api/v1/views/workspaces.v1                                                           401  ok   ok   ok   ok   | ok   ok   ok   | 403  403  403  403  403  403  403  | ok
GET    /api/v1/dashboard/bootstrap                                                           401  ok   ok   ok   ok   | ok   ok   ok   | ok   ok   ok   403  ok   ok   ok   | ok
GET    /api/v1/credential-recipes                                                            401  ok   ok   ok   ok   | ok   ok   ok   | ok   ok   ok   403  ok   ok   ok   | ok

# Workspaces, members and projects
GET    /api/v1/workspaces                                                                    401  ok   ok   ok   ok   | ok   ok   ok   | ok   ok   ok   403  ok   ok   ok   | ok
POST   /api/v1/workspaces                                                                    401  ok   ok   ok   ok   | ok   ok   ok   | 403  ok   403  ok   403  403  ok   | ok
GET    /api/v1/workspaces/:workspaceId                                                       401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
PATCH  /api/v1/workspaces/:workspaceId                                                       401  403  403  403  ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | ok
GET    /api/v1/workspaces/:workspaceId/members                                               401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
POST   /api/v1/workspaces/:workspaceId/automation                                            401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
POST   /api/v1/workspaces/:workspaceId/members                                               401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409  | subject
PATCH  /api/v1/workspaces/:workspaceId/members/:subject                                      401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
DELETE /api/v1/workspaces/:workspaceId/members/:subject                                      401  ok   ok   ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  ok   | ok
GET    /api/v1/workspaces/:workspaceId/members/:subject/departure                            401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
GET    /api/v1/workspaces/:workspaceId/members/:subject/tokens                               401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
POST   /api/v1/workspaces/:workspaceId/members/:subject/tokens                               401  403  403  ok   ok   | 403  403  403  | ok   403  403  403  403  403  403  | 409
POST   /api/v1/workspaces/:workspaceId/members/:subject/tokens/:tokenId/revoke               401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | ok
POST   /api/v1/workspaces/:workspaceId/ownership                                             401  403  403  403  ok   | 403  403  403  | ok   403  403  403  403  403  403  | 409  | subject
GET    /api/v1/workspaces/:workspaceId/invitations                                           401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
POST   /api/v1/workspaces/:workspaceId/invitations                                           401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
POST   /api/v1/workspaces/:workspaceId/invitations/:invitationId/revoke                      401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | ok
GET    /api/v1/workspaces/:workspaceId/teams                                                 401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
POST   /api/v1/workspaces/:workspaceId/teams                                                 401  403  403  403  ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409  | members[] grants[].projectId
PATCH  /api/v1/workspaces/:workspaceId/teams/:teamId                                         401  403  403  403  ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409  | members[] grants[].projectId
DELETE /api/v1/workspaces/:workspaceId/teams/:teamId                                         401  403  403  403  ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
GET    /api/v1/workspaces/:workspaceId/approval-rules                                        401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
POST   /api/v1/workspaces/:workspaceId/approval-rules                                        401  403  403  403  ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409  | projectId teamId
PATCH  /api/v1/workspaces/:workspaceId/approval-rules/:ruleId                                401  403  403  403  ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409  | projectId teamId
DELETE /api/v1/workspaces/:workspaceId/approval-rules/:ruleId                                401  403  403  403  ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
POST   /api/v1/invitations/inspect                                                           ok   ok   ok   ok   ok   | ok   ok   ok   | ok   ok   ok   ok   ok   ok   ok   | ok
POST   /api/v1/invitations/accept                                                            401  ok   ok   ok   ok   | ok   ok   ok   | 403  403  403  403  403  403  403  | ok
POST   /api/v1/invitations/decline                                                           ok   ok   ok   ok   ok   | ok   ok   ok   | ok   ok   ok   ok   ok   ok   ok   | ok
GET    /api/v1/workspaces/:workspaceId/projects                                              401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
POST   /api/v1/workspaces/:workspaceId/projects                                              401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
GET    /api/v1/projects/:projectId                                                           401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok

# What a Workspace shows and starts
GET    /api/v1/dashboard/overview                                                            401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
GET    /api/v1/dashboard/needs                                                               401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
GET    /api/v1/dashboard/latest-runs                                                         401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
GET    /api/v1/workspaces/:workspaceId/graph                                                 401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
GET    /api/v1/workspaces/:workspaceId/activity                                              401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
GET    /api/v1/workspaces/:workspaceId/audit-events                                          401  403  403  403  ok   | 403  403  403  | ok   ok   ok   403  ok   403  403  | ok
GET    /api/v1/workspaces/:workspaceId/audit-head                                            401  403  403  403  ok   | 403  403  403  | ok   ok   ok   403  ok   403  403  | ok
GET    /api/v1/workspaces/:workspaceId/usage                                                 401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
GET    /api/v1/workspaces/:workspaceId/billing                                               401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
GET    /api/v1/workspaces/:workspaceId/runs                                                  401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
GET    /api/v1/workspaces/:workspaceId/run-facets                                            401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
GET    /api/v1/workspaces/:workspaceId/agent-pools                                           401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
GET    /api/v1/workspaces/:workspaceId/agents                                                401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
GET    /api/v1/workspaces/:workspaceId/capsules                                              401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
GET    /api/v1/workspaces/:workspaceId/current-state-versions                                401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
GET    /api/v1/workspaces/:workspaceId/ui-surfaces                                           401  ok   ok   ok   ok   | 403  403  403  | ok   403  403  403  403  403  403  | ok
GET    /api/v1/workspaces/:workspaceId/backups                                               401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
POST   /api/v1/workspaces/:workspaceId/backups                                               401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
POST   /api/v1/workspaces/:workspaceId/plan-update                                           401  403  ok   ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409  | capsuleIds[]
POST   /api/v1/workspaces/:workspaceId/drift-check                                           401  403  ok   ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
GET    /api/v1/workspaces/:workspaceId/interface-materialization-failures                    401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
POST   /api/v1/workspaces/:workspaceId/interface-materialization-failures/:intentId/retries  401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409

# Sources
GET    /api/v1/sources                                                                       401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
POST   /api/v1/sources                                                                       401  403  ok   ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409  | workspaceId authConnectionId
GET    /api/v1/sources/:sourceId                                                             401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
PATCH  /api/v1/sources/:sourceId                                                             401  403  ok   ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409  | authConnectionId forgeConnectionId
DELETE /api/v1/sources/:sourceId                                                             401  403  ok   ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
POST   /api/v1/sources/:sourceId/hook-secret                                                 401  403  ok   ok   ok   | 403  403  403  | ok   403  403  403  403  403  403  | 409
POST   /api/v1/sources/:sourceId/sync                                                        401  403  ok   ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
POST   /api/v1/sources/:sourceId/revisions                                                   401  403  ok   ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
GET    /api/v1/workspaces/:workspaceId/pull-requests                                         401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
GET    /api/v1/capsules/:capsuleId/pull-requests                                             401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
GET    /api/v1/pull-requests/:pullRequestId                                                  401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
POST   /api/v1/pull-requests/:pullRequestId/plan                                             401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
POST   /api/v1/sources/:sourceId/compatibility-check                                         401  403  ok   ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409  | sourceSnapshotId installConfigId
GET    /api/v1/sources/:sourceId/snapshots                                                   401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
GET    /api/v1/sources/:sourceId/snapshots/:sourceSnapshotId/install-modules                 401  ok   ok   ok   ok   | 403  403  403  | ok   403  403  403  403  403  403  | ok
GET    /api/v1/sources/:sourceId/snapshots/:sourceSnapshotId/file                            401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
GET    /api/v1/compatibility-reports/:reportId                                               401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
POST   /api/v1/workspaces/:workspaceId/source-ref-resolutions/stable-semver                  401  ok   ok   ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  ok   | 409

# Notices
GET    /api/v1/workspaces/:workspaceId/notice-endpoints                                      401  403  403  ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  403  | ok
POST   /api/v1/workspaces/:workspaceId/notice-endpoints                                      401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409  | filter.projectIds[] filter.capsuleIds[]
GET    /api/v1/workspaces/:workspaceId/notice-endpoints/:endpointId                          401  403  403  ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  403  | ok
PATCH  /api/v1/workspaces/:workspaceId/notice-endpoints/:endpointId                          401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409  | filter.projectIds[] filter.capsuleIds[]
DELETE /api/v1/workspaces/:workspaceId/notice-endpoints/:endpointId                          401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
POST   /api/v1/workspaces/:workspaceId/notice-endpoints/:endpointId/secret                   401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
POST   /api/v1/workspaces/:workspaceId/notice-endpoints/:endpointId/test                     401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
GET    /api/v1/workspaces/:workspaceId/notice-endpoints/:endpointId/deliveries               401  403  403  ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  403  | ok
GET    /api/v1/workspaces/:workspaceId/notice-endpoints/:endpointId/deliveries/:deliveryId   401  403  403  ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  403  | ok
POST   /api/v1/workspaces/:workspaceId/notice-endpoints/:endpointId/deliveries/:deliveryId/replay  401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
GET    /api/v1/account/notice-mails                                                          401  ok   ok   ok   ok   | ok   ok   ok   | 403  403  403  403  403  403  403  | ok
PUT    /api/v1/account/notice-mails                                                          401  ok   ok   ok   ok   | ok   ok   ok   | 403  403  403  403  403  403  403  | ok

# Install and revision plans
POST   /api/v1/workspaces/:workspaceId/install-plans                                         401  403  ok   ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409  | source.authConnectionId capsule.projectId options.providerBindings[].connectionId preflight.sourceId preflight.sourceSnapshotId preflight.compatibilityCheckRunId preflight.compatibilityReportId preflight.installConfigId dependencies[].producerCapsuleId adopt.uploadId
POST   /api/v1/workspaces/:workspaceId/state-uploads                                         401  403  403  403  ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
POST   /api/v1/workspaces/:workspaceId/backup-uploads                                        401  403  403  403  ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
GET    /api/v1/install-plans/:installPlanId                                                  401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
POST   /api/v1/install-plans/:installPlanId/reconcile                                        401  403  ok   ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
POST   /api/v1/capsules/:capsuleId/revision-plans                                            401  403  ok   ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
GET    /api/v1/revision-plans/:revisionPlanId                                                401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
POST   /api/v1/revision-plans/:revisionPlanId/reconcile                                      401  403  ok   ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409

# Capsules
GET    /api/v1/capsules/:capsuleId                                                           401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
PATCH  /api/v1/capsules/:capsuleId                                                           401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
DELETE /api/v1/capsules/:capsuleId                                                           401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
POST   /api/v1/capsules/:capsuleId/release                                                   401  403  403  403  ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
POST   /api/v1/capsules/:capsuleId/import-confirmation                                       401  403  403  403  ok   | 403  403  403  | ok   403  403  403  403  403  403  | 409
POST   /api/v1/capsules/:capsuleId/plan                                                      401  403  ok   ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
POST   /api/v1/capsules/:capsuleId/look                                                      401  403  ok   ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
POST   /api/v1/capsules/:capsuleId/destroy-plan                                              401  403  ok   ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
POST   /api/v1/capsules/:capsuleId/reconcile-plan                                            401  403  ok   ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
POST   /api/v1/capsules/:capsuleId/drift-check                                               401  403  ok   ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
POST   /api/v1/capsules/:capsuleId/configuration-plans                                       401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409  | providerBindings[].connectionId
POST   /api/v1/capsules/:capsuleId/install-config-re-adoptions                               401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409  | baseInstallConfigId sourceSnapshotId
POST   /api/v1/capsules/:capsuleId/backups                                                   401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
GET    /api/v1/capsules/:capsuleId/outputs                                                   401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
GET    /api/v1/capsules/:capsuleId/usage-summary                                             401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
GET    /api/v1/capsules/:capsuleId/state-versions                                            401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
GET    /api/v1/capsules/:capsuleId/resources                                                 401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
GET    /api/v1/capsules/:capsuleId/resource-history                                          401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
GET    /api/v1/capsules/:capsuleId/left-over-states                                          401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
GET    /api/v1/capsules/:capsuleId/left-over-states/:leftOverStateId                         401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
POST   /api/v1/capsules/:capsuleId/left-over-states/:leftOverStateId/adopt                   401  403  403  403  ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
DELETE /api/v1/capsules/:capsuleId/left-over-states/:leftOverStateId                         401  403  403  403  ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
GET    /api/v1/backups/:backupId/archive                                                     401  403  403  403  ok   | 403  403  403  | ok   403  403  403  403  403  403  | ok
POST   /api/v1/backups/:backupId/restore-plan                                                401  403  403  403  ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409  | capsuleId
POST   /api/v1/capsules/:capsuleId/exports                                                   401  403  403  403  ok   | 403  403  403  | ok   403  403  403  403  403  403  | 409
GET    /api/v1/capsules/:capsuleId/exports/:exportLink                                       401  403  403  403  ok   | 403  403  403  | ok   ok   ok   403  ok   403  403  | ok
POST   /api/v1/confirmations                                                                 401  403  ok   ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409  | targetId workspaceId
POST   /api/v1/confirmations/poll                                                            401  403  ok   ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409  | workspaceId
GET    /api/v1/capsules/:capsuleId/auto-update-decisions                                     401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
GET    /api/v1/state-versions/:stateVersionId                                                401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
GET    /api/v1/state-versions/:stateVersionId/difference                                     401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
POST   /api/v1/state-versions/:stateVersionId/rollback-plan                                  401  403  ok   ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
GET    /api/v1/capsules/:capsuleId/dependencies                                              401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
POST   /api/v1/capsules/:capsuleId/dependencies                                              401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409  | producerCapsuleId
DELETE /api/v1/dependencies/:dependencyId                                                    401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
GET    /api/v1/capsules/:capsuleId/provider-bindings                                         401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
PUT    /api/v1/capsules/:capsuleId/provider-bindings                                         401  403  ok   ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
GET    /api/v1/capsule-configs                                                               401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
GET    /api/v1/capsule-configs/:capsuleConfigId                                              401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
PATCH  /api/v1/capsule-configs/:capsuleConfigId                                              401  403  ok   ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409

# Runs: who reads, who approves, who applies
GET    /api/v1/runs/:runId                                                                   401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
GET    /api/v1/runs/:runId/logs                                                              401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
GET    /api/v1/runs/:runId/events                                                            401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
GET    /api/v1/runs/:runId/cost                                                              401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
GET    /api/v1/runs/:runId/source-changes                                                    401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
GET    /api/v1/runs/:runId/change-causes                                                     401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
GET    /api/v1/runs/:runId/change-approvals                                                 401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
POST   /api/v1/runs/:runId/change-approvals                                                 401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
DELETE /api/v1/runs/:runId/change-approvals/:changeApprovalId                               401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
GET    /api/v1/runs/:runId/comments                                                          401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
POST   /api/v1/runs/:runId/comments                                                          401  403  ok   ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409  | mentions[]
DELETE /api/v1/runs/:runId/comments/:commentId                                               401  403  ok   ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
GET    /api/v1/runs/:runId/approvals                                                         401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
POST   /api/v1/runs/:runId/approve                                                           401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
POST   /api/v1/runs/:runId/apply                                                             401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
POST   /api/v1/runs/:runId/approval-requests                                                 401  403  ok   ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
POST   /api/v1/runs/:runId/cancel                                                            401  403  ok   ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
POST   /api/v1/runs/:runId/release                                                           401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
GET    /api/v1/run-groups/:runGroupId                                                        401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
POST   /api/v1/run-groups/:runGroupId/approve                                                401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
POST   /api/v1/run-groups/:runGroupId/cancel                                                 401  403  ok   ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409

# Connections and shared Outputs
GET    /api/v1/connections                                                                   401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
POST   /api/v1/connections                                                                   401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409  | workspaceId use.projectIds[]
GET    /api/v1/connections/:connectionId                                                     401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
PATCH  /api/v1/connections/:connectionId                                                     401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409  | use.projectIds[]
DELETE /api/v1/connections/:connectionId                                                     401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
POST   /api/v1/connections/:connectionId/test                                                401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
POST   /api/v1/connections/:connectionId/origins/confirm                                     401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
POST   /api/v1/connections/:connectionId/revoke                                              401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
POST   /api/v1/connections/oauth/:helperId/start                                             401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409  | workspaceId connectionId use.projectIds[]
GET    /api/v1/connections/oauth/:helperId/callback                                          401  ok   ok   ok   ok   | ok   ok   ok   | ok   ok   ok   403  ok   ok   ok   | ok
POST   /api/v1/connections/github-app/start                                                  401  403  403  ok   ok   | 403  403  403  | ok   403  403  403  403  403  403  | 409  | workspaceId
GET    /api/v1/connections/github-app/form                                                   401  ok   ok   ok   ok   | ok   ok   ok   | ok   403  403  403  403  403  403  | ok
GET    /api/v1/connections/github-app/callback                                               401  ok   ok   ok   ok   | ok   ok   ok   | ok   403  403  403  403  403  403  | ok
GET    /api/v1/provider-connections                                                          401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
GET    /api/v1/output-shares                                                                 401  ok   ok   ok   ok   | 403  403  403  | ok   ok   ok   403  ok   403  ok   | ok
POST   /api/v1/output-shares                                                                 401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409  | fromWorkspaceId toWorkspaceId producerCapsuleId
POST   /api/v1/output-shares/:shareId/approve                                                401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
POST   /api/v1/output-shares/:shareId/revoke                                                 401  403  403  ok   ok   | 403  403  403  | ok   ok   403  ok   ok   403  403  | 409
`

/** The callers in the table, and their names in `Principals`. `arch` is the owner while the Workspace is archived. */
export const callers = [
  ["anon", "nobody"],
  ["view", "viewer"],
  ["memb", "member"],
  ["admn", "admin"],
  ["ownr", "owner"],
  ["othr", "stranger"],
  ["susp", "suspended member"],
  ["oper", "operator"],
  ["conf", "session confined to A"],
  ["pat", "token"],
  ["p-r", "read-only token"],
  ["p-w", "write-only token"],
  ["p-A", "token for A"],
  ["p-B", "token for B"],
  ["p-v", "viewer's token"],
  ["arch", "owner"]
] as const

export type CallerKind = (typeof callers)[number][0]
const verdicts = ["ok", "401", "403", "409"] as const
export type Verdict = (typeof verdicts)[number]

export interface AuthorizationRow {
  readonly method: string
  /** The route's path, in the API's notation. */
  readonly path: string
  readonly cells: ReadonlyMap<CallerKind, Verdict>
  /** The body fields that identify records. */
  readonly records: ReadonlyArray<string>
}

const callerNamed = (name: string): CallerKind => {
  const found = callers.find(([known]) => known === name)
  if (found === undefined) throw new Error(`There is no caller "${name}"`)
  return found[0]
}

const parseRow = (columns: ReadonlyArray<CallerKind>, line: string): AuthorizationRow => {
  const [method = "", path = "", ...words] = line.split(/[\s|]+/)
  if (words.length < columns.length) throw new Error(`The row of ${method} ${path} has ${words.length} verdicts`)
  const cells = columns.map((caller, at): readonly [CallerKind, Verdict] => {
    const verdict = verdicts.find((known) => known === words[at])
    if (verdict === undefined) throw new Error(`The row of ${method} ${path} says "${words[at]}" for ${caller}`)
    return [caller, verdict]
  })
  return { method, path, cells: new Map(cells), records: words.slice(columns.length) }
}

const parse = (text: string): ReadonlyArray<AuthorizationRow> => {
  const [head = "", ...lines] = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"))
  const columns = head
    .split(/[\s|]+/)
    .slice(1, -1)
    .map(callerNamed)
  if (columns.length !== callers.length) throw new Error("The table does not name every caller once")
  return lines.map((line) => parseRow(columns, line))
}

export const authorizationTable = parse(table)

/**
 * Routes that also require a recently confirmed identity: a session gets 403 `reauthentication_required` if its last confirmation
 * is older than five minutes. Written by hand, like the table.
 */
export const confirmedRoutes: ReadonlySet<string> = new Set([
  "POST /api/v1/workspaces/:workspaceId/members/:subject/tokens",
  "POST /api/v1/workspaces/:workspaceId/ownership",
  "POST /api/v1/sources/:sourceId/hook-secret",
  "GET /api/v1/backups/:backupId/archive",
  "POST /api/v1/capsules/:capsuleId/exports",
  "POST /api/v1/capsules/:capsuleId/import-confirmation"
])

/** Routes that a token may call once its person has confirmed the action in the browser, with that action. */
export const confirmableRoutes: ReadonlyMap<string, ConfirmableAction> = new Map([
  ["POST /api/v1/sources/:sourceId/hook-secret", "source.hook_secret.renew"],
  ["POST /api/v1/capsules/:capsuleId/exports", "capsule.export"]
])

/** Returns a route's row, and fails the test if there is none. */
export const rowOf = (method: string, path: string): AuthorizationRow => {
  const row = authorizationTable.find((known) => known.method === method && known.path === path)
  if (row === undefined) throw new Error(`${method} ${path} has no row in AuthorizationTable.ts: say who may call it`)
  return row
}
