// The API routes that the dashboard calls. The type of each entry is the exact string in the route's declaration, so an
// unknown path is a type error. No other dashboard file contains API paths. Each route is a separate constant, so that a
// page loads only the routes that it needs.

import type { Endpoint } from "./Declarations.ts"

export const accountTokensList: Endpoint<"accountTokens", "list"> = "GET /api/v1/account/tokens"
export const accountTokensScopes: Endpoint<"accountTokens", "scopes"> = "GET /api/v1/account/tokens/scopes"
export const accountTokensCreate: Endpoint<"accountTokens", "create"> = "POST /api/v1/account/tokens"
export const accountTokensRevoke: Endpoint<"accountTokens", "revoke"> = "POST /api/v1/account/tokens/:tokenId/revoke"

export const discoveryExtensions: Endpoint<"discovery", "extensions"> = "GET /api/v1/extensions"

export const workspacesCreate: Endpoint<"workspaces", "create"> = "POST /api/v1/workspaces"
export const workspacesUpdate: Endpoint<"workspaces", "update"> = "PATCH /api/v1/workspaces/:workspaceId"
export const workspacesSetAutomation: Endpoint<"workspaces", "setAutomation"> =
  "POST /api/v1/workspaces/:workspaceId/automation"
export const workspacesMembers: Endpoint<"workspaces", "members"> = "GET /api/v1/workspaces/:workspaceId/members"
export const workspacesHandOver: Endpoint<"workspaces", "handOver"> = "POST /api/v1/workspaces/:workspaceId/ownership"
export const teamsList: Endpoint<"teams", "list"> = "GET /api/v1/workspaces/:workspaceId/teams"
export const teamsCreate: Endpoint<"teams", "create"> = "POST /api/v1/workspaces/:workspaceId/teams"
export const teamsUpdate: Endpoint<"teams", "update"> = "PATCH /api/v1/workspaces/:workspaceId/teams/:teamId"
export const teamsRemove: Endpoint<"teams", "remove"> = "DELETE /api/v1/workspaces/:workspaceId/teams/:teamId"
export const approvalsRules: Endpoint<"approvals", "rules"> = "GET /api/v1/workspaces/:workspaceId/approval-rules"
export const approvalsCreateRule: Endpoint<"approvals", "createRule"> =
  "POST /api/v1/workspaces/:workspaceId/approval-rules"
export const approvalsUpdateRule: Endpoint<"approvals", "updateRule"> =
  "PATCH /api/v1/workspaces/:workspaceId/approval-rules/:ruleId"
export const approvalsRemoveRule: Endpoint<"approvals", "removeRule"> =
  "DELETE /api/v1/workspaces/:workspaceId/approval-rules/:ruleId"
export const approvalsOfRun: Endpoint<"approvals", "ofRun"> = "GET /api/v1/runs/:runId/approvals"
export const noticesEndpoints: Endpoint<"notices", "endpoints"> = "GET /api/v1/workspaces/:workspaceId/notice-endpoints"
export const noticesCreateEndpoint: Endpoint<"notices", "createEndpoint"> =
  "POST /api/v1/workspaces/:workspaceId/notice-endpoints"
export const noticesUpdateEndpoint: Endpoint<"notices", "updateEndpoint"> =
  "PATCH /api/v1/workspaces/:workspaceId/notice-endpoints/:endpointId"
export const noticesRemoveEndpoint: Endpoint<"notices", "removeEndpoint"> =
  "DELETE /api/v1/workspaces/:workspaceId/notice-endpoints/:endpointId"
export const noticesRotateSecret: Endpoint<"notices", "rotateSecret"> =
  "POST /api/v1/workspaces/:workspaceId/notice-endpoints/:endpointId/secret"
export const noticesTestEndpoint: Endpoint<"notices", "testEndpoint"> =
  "POST /api/v1/workspaces/:workspaceId/notice-endpoints/:endpointId/test"
export const noticesDeliveries: Endpoint<"notices", "deliveries"> =
  "GET /api/v1/workspaces/:workspaceId/notice-endpoints/:endpointId/deliveries"
export const noticesReplayDelivery: Endpoint<"notices", "replayDelivery"> =
  "POST /api/v1/workspaces/:workspaceId/notice-endpoints/:endpointId/deliveries/:deliveryId/replay"
export const noticesMails: Endpoint<"notices", "mails"> = "GET /api/v1/account/notice-mails"
export const noticesChooseMails: Endpoint<"notices", "chooseMails"> = "PUT /api/v1/account/notice-mails"
export const invitationsList: Endpoint<"invitations", "list"> = "GET /api/v1/workspaces/:workspaceId/invitations"
export const invitationsCreate: Endpoint<"invitations", "create"> = "POST /api/v1/workspaces/:workspaceId/invitations"
export const invitationsRevoke: Endpoint<"invitations", "revoke"> =
  "POST /api/v1/workspaces/:workspaceId/invitations/:invitationId/revoke"
export const invitationsInspect: Endpoint<"invitations", "inspect"> = "POST /api/v1/invitations/inspect"
export const invitationsAccept: Endpoint<"invitations", "accept"> = "POST /api/v1/invitations/accept"
export const invitationsDecline: Endpoint<"invitations", "decline"> = "POST /api/v1/invitations/decline"
export const workspacesUpdateMember: Endpoint<"workspaces", "updateMember"> =
  "PATCH /api/v1/workspaces/:workspaceId/members/:subject"
export const workspacesRemoveMember: Endpoint<"workspaces", "removeMember"> =
  "DELETE /api/v1/workspaces/:workspaceId/members/:subject"
export const workspacesAddMember: Endpoint<"workspaces", "addMember"> = "POST /api/v1/workspaces/:workspaceId/members"
export const workspacesProjects: Endpoint<"workspaces", "projects"> = "GET /api/v1/workspaces/:workspaceId/projects"
export const membersDeparture: Endpoint<"members", "departure"> =
  "GET /api/v1/workspaces/:workspaceId/members/:subject/departure"
export const membersTokens: Endpoint<"members", "tokens"> =
  "GET /api/v1/workspaces/:workspaceId/members/:subject/tokens"
export const membersCreateToken: Endpoint<"members", "createToken"> =
  "POST /api/v1/workspaces/:workspaceId/members/:subject/tokens"
export const membersRevokeToken: Endpoint<"members", "revokeToken"> =
  "POST /api/v1/workspaces/:workspaceId/members/:subject/tokens/:tokenId/revoke"
export const workspacesGraph: Endpoint<"workspaces", "graph"> = "GET /api/v1/workspaces/:workspaceId/graph"
export const auditExport: Endpoint<"audit", "export"> = "GET /api/v1/workspaces/:workspaceId/audit-events"
export const workspacesActivity: Endpoint<"workspaces", "activity"> = "GET /api/v1/workspaces/:workspaceId/activity"
export const workspacesBackups: Endpoint<"workspaces", "backups"> = "GET /api/v1/workspaces/:workspaceId/backups"
export const workspacesCreateBackup: Endpoint<"workspaces", "createBackup"> =
  "POST /api/v1/workspaces/:workspaceId/backups"
export const workspacesPlanUpdate: Endpoint<"workspaces", "planUpdate"> =
  "POST /api/v1/workspaces/:workspaceId/plan-update"
export const workspacesDriftCheck: Endpoint<"workspaces", "driftCheck"> =
  "POST /api/v1/workspaces/:workspaceId/drift-check"
export const workspacesRuns: Endpoint<"workspaces", "runs"> = "GET /api/v1/workspaces/:workspaceId/runs"
export const workspacesRunFacets: Endpoint<"workspaces", "runFacets"> = "GET /api/v1/workspaces/:workspaceId/run-facets"
export const workspacesCapsules: Endpoint<"workspaces", "capsules"> = "GET /api/v1/workspaces/:workspaceId/capsules"

export const installPlansCreate: Endpoint<"installPlans", "create"> =
  "POST /api/v1/workspaces/:workspaceId/install-plans"
export const stateUploadsCreate: Endpoint<"stateUploads", "create"> =
  "POST /api/v1/workspaces/:workspaceId/state-uploads"
export const backupImportsUpload: Endpoint<"backupImports", "upload"> =
  "POST /api/v1/workspaces/:workspaceId/backup-uploads"
export const backupImportsConfirm: Endpoint<"backupImports", "confirm"> =
  "POST /api/v1/capsules/:capsuleId/import-confirmation"
export const installPlansReconcile: Endpoint<"installPlans", "reconcile"> =
  "POST /api/v1/install-plans/:installPlanId/reconcile"

export const revisionPlansCreate: Endpoint<"revisionPlans", "create"> =
  "POST /api/v1/capsules/:capsuleId/revision-plans"
export const revisionPlansRead: Endpoint<"revisionPlans", "read"> = "GET /api/v1/revision-plans/:revisionPlanId"
export const revisionPlansReconcile: Endpoint<"revisionPlans", "reconcile"> =
  "POST /api/v1/revision-plans/:revisionPlanId/reconcile"

export const capsulesRead: Endpoint<"capsules", "read"> = "GET /api/v1/capsules/:capsuleId"
export const capsulesUpdate: Endpoint<"capsules", "update"> = "PATCH /api/v1/capsules/:capsuleId"
export const capsulesRemove: Endpoint<"capsules", "remove"> = "DELETE /api/v1/capsules/:capsuleId"
export const capsulesRelease: Endpoint<"capsules", "release"> = "POST /api/v1/capsules/:capsuleId/release"
export const capsulesOutputs: Endpoint<"capsules", "outputs"> = "GET /api/v1/capsules/:capsuleId/outputs"
export const capsulesStateVersions: Endpoint<"capsules", "stateVersions"> =
  "GET /api/v1/capsules/:capsuleId/state-versions"
export const capsulesAutoUpdateDecisions: Endpoint<"capsules", "autoUpdateDecisions"> =
  "GET /api/v1/capsules/:capsuleId/auto-update-decisions"
export const capsulesDependencies: Endpoint<"capsules", "dependencies"> = "GET /api/v1/capsules/:capsuleId/dependencies"
export const capsulesCreateDependency: Endpoint<"capsules", "createDependency"> =
  "POST /api/v1/capsules/:capsuleId/dependencies"
export const capsulesRemoveDependency: Endpoint<"capsules", "removeDependency"> =
  "DELETE /api/v1/dependencies/:dependencyId"
export const capsulesProviderBindings: Endpoint<"capsules", "providerBindings"> =
  "GET /api/v1/capsules/:capsuleId/provider-bindings"
export const capsulesConfigs: Endpoint<"capsules", "configs"> = "GET /api/v1/capsule-configs"
export const capsulesConfig: Endpoint<"capsules", "config"> = "GET /api/v1/capsule-configs/:capsuleConfigId"
export const capsulesPlan: Endpoint<"capsules", "plan"> = "POST /api/v1/capsules/:capsuleId/plan"
export const capsulesLook: Endpoint<"capsules", "look"> = "POST /api/v1/capsules/:capsuleId/look"
export const capsulesConfigurationPlan: Endpoint<"capsules", "configurationPlan"> =
  "POST /api/v1/capsules/:capsuleId/configuration-plans"
export const capsulesReconcilePlan: Endpoint<"capsules", "reconcilePlan"> =
  "POST /api/v1/capsules/:capsuleId/reconcile-plan"
export const capsulesDestroyPlan: Endpoint<"capsules", "destroyPlan"> = "POST /api/v1/capsules/:capsuleId/destroy-plan"
export const capsulesReAdopt: Endpoint<"capsules", "reAdopt"> =
  "POST /api/v1/capsules/:capsuleId/install-config-re-adoptions"
export const capsulesDriftCheck: Endpoint<"capsules", "driftCheck"> = "POST /api/v1/capsules/:capsuleId/drift-check"

export const stateResourcesList: Endpoint<"stateResources", "list"> = "GET /api/v1/capsules/:capsuleId/resources"
export const stateResourcesHistory: Endpoint<"stateResources", "history"> =
  "GET /api/v1/capsules/:capsuleId/resource-history"

export const leftOverStatesList: Endpoint<"leftOverStates", "list"> = "GET /api/v1/capsules/:capsuleId/left-over-states"
export const leftOverStatesAdopt: Endpoint<"leftOverStates", "adopt"> =
  "POST /api/v1/capsules/:capsuleId/left-over-states/:leftOverStateId/adopt"
export const leftOverStatesDiscard: Endpoint<"leftOverStates", "discard"> =
  "DELETE /api/v1/capsules/:capsuleId/left-over-states/:leftOverStateId"

export const backupsArchive: Endpoint<"backups", "archive"> = "GET /api/v1/backups/:backupId/archive"
export const backupsRestorePlan: Endpoint<"backups", "restorePlan"> = "POST /api/v1/backups/:backupId/restore-plan"
export const exportsCreate: Endpoint<"exports", "create"> = "POST /api/v1/capsules/:capsuleId/exports"

export const agentPoolsList: Endpoint<"agentPools", "list"> = "GET /api/v1/workspaces/:workspaceId/agent-pools"
export const agentPoolsAgents: Endpoint<"agentPools", "agents"> = "GET /api/v1/workspaces/:workspaceId/agents"
export const agentPoolsRelease: Endpoint<"agentPools", "release"> = "POST /api/v1/runs/:runId/release"

export const sourcesList: Endpoint<"sources", "list"> = "GET /api/v1/sources"
export const sourcesCreate: Endpoint<"sources", "create"> = "POST /api/v1/sources"
export const sourcesRead: Endpoint<"sources", "read"> = "GET /api/v1/sources/:sourceId"
export const sourcesUpdate: Endpoint<"sources", "update"> = "PATCH /api/v1/sources/:sourceId"
export const sourcesRemove: Endpoint<"sources", "remove"> = "DELETE /api/v1/sources/:sourceId"
export const sourcesRenewHookSecret: Endpoint<"sources", "renewHookSecret"> =
  "POST /api/v1/sources/:sourceId/hook-secret"
export const sourcesSync: Endpoint<"sources", "sync"> = "POST /api/v1/sources/:sourceId/sync"
export const sourcesRevisions: Endpoint<"sources", "revisions"> = "POST /api/v1/sources/:sourceId/revisions"
export const sourcesSnapshots: Endpoint<"sources", "snapshots"> = "GET /api/v1/sources/:sourceId/snapshots"
export const sourcesInstallModules: Endpoint<"sources", "installModules"> =
  "GET /api/v1/sources/:sourceId/snapshots/:sourceSnapshotId/install-modules"
export const sourcesFile: Endpoint<"sources", "file"> = "GET /api/v1/sources/:sourceId/snapshots/:sourceSnapshotId/file"
export const sourcesCompatibilityCheck: Endpoint<"sources", "compatibilityCheck"> =
  "POST /api/v1/sources/:sourceId/compatibility-check"
export const sourcesReport: Endpoint<"sources", "report"> = "GET /api/v1/compatibility-reports/:reportId"
export const sourcesStableSemver: Endpoint<"sources", "stableSemver"> =
  "POST /api/v1/workspaces/:workspaceId/source-ref-resolutions/stable-semver"

export const runsChangeCauses: Endpoint<"runs", "changeCauses"> = "GET /api/v1/runs/:runId/change-causes"
export const runsCost: Endpoint<"runs", "cost"> = "GET /api/v1/runs/:runId/cost"
export const runsSourceChanges: Endpoint<"runs", "sourceChanges"> = "GET /api/v1/runs/:runId/source-changes"
export const runsRead: Endpoint<"runs", "read"> = "GET /api/v1/runs/:runId"
export const runsApprove: Endpoint<"runs", "approve"> = "POST /api/v1/runs/:runId/approve"
export const runsApply: Endpoint<"runs", "apply"> = "POST /api/v1/runs/:runId/apply"
export const runsCancel: Endpoint<"runs", "cancel"> = "POST /api/v1/runs/:runId/cancel"
export const runsLogs: Endpoint<"runs", "logs"> = "GET /api/v1/runs/:runId/logs"
export const runsEvents: Endpoint<"runs", "events"> = "GET /api/v1/runs/:runId/events"
export const approvalsAsk: Endpoint<"approvals", "ask"> = "POST /api/v1/runs/:runId/approval-requests"
export const changeApprovalsList: Endpoint<"changeApprovals", "list"> = "GET /api/v1/runs/:runId/change-approvals"
export const changeApprovalsApprove: Endpoint<"changeApprovals", "approve"> =
  "POST /api/v1/runs/:runId/change-approvals"
export const changeApprovalsWithdraw: Endpoint<"changeApprovals", "withdraw"> =
  "DELETE /api/v1/runs/:runId/change-approvals/:changeApprovalId"
export const pullRequestsList: Endpoint<"pullRequests", "list"> = "GET /api/v1/workspaces/:workspaceId/pull-requests"
export const pullRequestsOfCapsule: Endpoint<"pullRequests", "ofCapsule"> =
  "GET /api/v1/capsules/:capsuleId/pull-requests"
export const pullRequestsRead: Endpoint<"pullRequests", "read"> = "GET /api/v1/pull-requests/:pullRequestId"
export const pullRequestsPlan: Endpoint<"pullRequests", "plan"> = "POST /api/v1/pull-requests/:pullRequestId/plan"
export const commentsList: Endpoint<"comments", "list"> = "GET /api/v1/runs/:runId/comments"
export const commentsWrite: Endpoint<"comments", "write"> = "POST /api/v1/runs/:runId/comments"
export const commentsRemove: Endpoint<"comments", "remove"> = "DELETE /api/v1/runs/:runId/comments/:commentId"
export const runsGroup: Endpoint<"runs", "group"> = "GET /api/v1/run-groups/:runGroupId"
export const runsCancelGroup: Endpoint<"runs", "cancelGroup"> = "POST /api/v1/run-groups/:runGroupId/cancel"
export const runsRollbackPlan: Endpoint<"runs", "rollbackPlan"> =
  "POST /api/v1/state-versions/:stateVersionId/rollback-plan"

export const connectionsList: Endpoint<"connections", "list"> = "GET /api/v1/connections"
export const connectionsCreate: Endpoint<"connections", "create"> = "POST /api/v1/connections"
export const connectionsTest: Endpoint<"connections", "test"> = "POST /api/v1/connections/:connectionId/test"
export const connectionsUpdate: Endpoint<"connections", "update"> = "PATCH /api/v1/connections/:connectionId"
export const connectionsRemove: Endpoint<"connections", "remove"> = "DELETE /api/v1/connections/:connectionId"
export const connectionsConfirmOrigins: Endpoint<"connections", "confirmOrigins"> =
  "POST /api/v1/connections/:connectionId/origins/confirm"
export const connectionsRevoke: Endpoint<"connections", "revoke"> = "POST /api/v1/connections/:connectionId/revoke"
export const connectionsStartGitHubApp: Endpoint<"connections", "startGitHubApp"> =
  "POST /api/v1/connections/github-app/start"
export const connectionsStartOAuth: Endpoint<"connections", "startOAuth"> =
  "POST /api/v1/connections/oauth/:helperId/start"
export const connectionsRecipes: Endpoint<"connections", "recipes"> = "GET /api/v1/credential-recipes"
export const connectionsOutputShares: Endpoint<"connections", "outputShares"> = "GET /api/v1/output-shares"
export const connectionsCreateOutputShare: Endpoint<"connections", "createOutputShare"> = "POST /api/v1/output-shares"
export const connectionsApproveOutputShare: Endpoint<"connections", "approveOutputShare"> =
  "POST /api/v1/output-shares/:shareId/approve"
export const connectionsRevokeOutputShare: Endpoint<"connections", "revokeOutputShare"> =
  "POST /api/v1/output-shares/:shareId/revoke"

export const dashboardBootstrap: Endpoint<"dashboard", "bootstrap"> = "GET /api/v1/dashboard/bootstrap"
export const dashboardOverview: Endpoint<"dashboard", "overview"> = "GET /api/v1/dashboard/overview"
export const dashboardNeeds: Endpoint<"dashboard", "needs"> = "GET /api/v1/dashboard/needs"
export const dashboardLatestRuns: Endpoint<"dashboard", "latestRuns"> = "GET /api/v1/dashboard/latest-runs"
