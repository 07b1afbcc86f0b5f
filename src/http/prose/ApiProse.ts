import type { SvcApi } from "../../../schema/api/SvcApi.ts"
import { accountTokensProse } from "./AccountTokensProse.ts"
import { agentPoolsProse } from "./AgentPoolsProse.ts"
import { approvalsProse } from "./ApprovalsProse.ts"
import { auditProse } from "./AuditProse.ts"
import { backupImportsProse } from "./BackupImportsProse.ts"
import { backupsProse } from "./BackupsProse.ts"
import { capsulesProse } from "./CapsulesProse.ts"
import { connectionsProse } from "./ConnectionsProse.ts"
import { dashboardProse } from "./DashboardProse.ts"
import { discoveryProse } from "./DiscoveryProse.ts"
import { exportsProse } from "./ExportsProse.ts"
import { installPlansProse } from "./InstallPlansProse.ts"
import { invitationsProse } from "./InvitationsProse.ts"
import { leftOverStatesProse } from "./LeftOverStatesProse.ts"
import { membersProse } from "./MembersProse.ts"
import { revisionPlansProse } from "./RevisionPlansProse.ts"
import { runsProse } from "./RunsProse.ts"
import { sourcesProse } from "./SourcesProse.ts"
import { stateResourcesProse } from "./StateResourcesProse.ts"
import { stateUploadsProse } from "./StateUploadsProse.ts"
import { teamsProse } from "./TeamsProse.ts"
import { workspacesProse } from "./WorkspacesProse.ts"
import type { GroupProse } from "./Prose.ts"

type Groups = (typeof SvcApi)["groups"]

/**
 * What the routes of the API do, in words. Kept apart from their declarations, because clients bundle the declarations and do not
 * need the prose.
 */
export const apiProse: { readonly [Id in keyof Groups]: GroupProse<Groups[Id]> } = {
  discovery: discoveryProse,
  accountTokens: accountTokensProse,
  workspaces: workspacesProse,
  audit: auditProse,
  members: membersProse,
  invitations: invitationsProse,
  teams: teamsProse,
  approvals: approvalsProse,
  installPlans: installPlansProse,
  stateUploads: stateUploadsProse,
  stateResources: stateResourcesProse,
  revisionPlans: revisionPlansProse,
  capsules: capsulesProse,
  leftOverStates: leftOverStatesProse,
  backups: backupsProse,
  backupImports: backupImportsProse,
  exports: exportsProse,
  sources: sourcesProse,
  runs: runsProse,
  agentPools: agentPoolsProse,
  connections: connectionsProse,
  dashboard: dashboardProse
}
