// The JSON in API responses as the browser receives it. Only types are imported, so the bundle contains no server code.

import type { ChangeCauses as ChangeCausesSchema } from "../../../schema/records/ChangeCauses.ts"
import type { Answer, Body } from "./Declarations.ts"
import type { dashboardBootstrap, dashboardOverview, installPlansCreate, workspacesGraph } from "./Endpoints.ts"
import type { AccountNotice as AccountNoticeSchema } from "../../../actors/access/account/AccountNotices.ts"
import type { Passkey as PasskeySchema } from "../../../actors/access/account/NewPasskeys.ts"
import type { AccountSession as AccountSessionSchema } from "../../../actors/access/account/Sessions.ts"
import type { LinkedIdentity as LinkedIdentitySchema } from "../../../actors/access/account/UpstreamIdentities.ts"
import type { AutoUpdateDecision as AutoUpdateDecisionSchema } from "../../../schema/records/AutoUpdate.ts"
import type { RunEvent as RunEventSchema, RunLogEntry } from "../../../schema/events/RunEvent.ts"
import type { Departure as DepartureSchema } from "../../../schema/records/Departure.ts"
import type { AccountToken } from "../../../schema/records/AccountToken.ts"
import type { AuditEvent as AuditEventSchema } from "../../../schema/records/AuditEvent.ts"
import type {
  Capsule as CapsuleSchema,
  Dependency as DependencySchema,
  NewDependency as NewDependencySchema
} from "../../../schema/records/Capsule.ts"
import type {
  CompatibilityReport as CompatibilityReportSchema,
  InstallModules as InstallModulesSchema
} from "../../../schema/records/CompatibilityReport.ts"
import type { GrantedUse as GrantedUseSchema } from "../../../schema/records/ConnectionUse.ts"
import type {
  Connection as ConnectionSchema,
  CredentialRecipe as CredentialRecipeSchema
} from "../../../schema/records/Connection.ts"
import type { OAuthHelper as OAuthHelperSchema } from "../../../schema/records/OAuthHelper.ts"
import type { StateUpload as StateUploadSchema } from "../../../schema/records/StateUpload.ts"
import type { Agent as AgentSchema, WorkspacePool as WorkspacePoolSchema } from "../../../schema/records/AgentPool.ts"
import type { Backup as BackupSchema } from "../../../schema/records/Backup.ts"
import type { OutputShare as OutputShareSchema } from "../../../schema/records/OutputShare.ts"
import type { Discovery as DiscoverySchema } from "../../../schema/records/Discovery.ts"
import type { InstallConfig as InstallConfigSchema } from "../../../schema/records/InstallConfig.ts"
import type {
  InstallPlan as InstallPlanSchema,
  RevisionPlan as RevisionPlanSchema
} from "../../../schema/records/InstallPlan.ts"
import type {
  ProviderBinding as ProviderBindingSchema,
  ProviderRequirement as ProviderRequirementSchema
} from "../../../schema/records/Provider.ts"
import type {
  Invitation as InvitationSchema,
  InvitationPreview as InvitationPreviewSchema
} from "../../../schema/records/Invitation.ts"
import type {
  CapsuleHealth as CapsuleHealthSchema,
  AttentionItem as AttentionItemSchema
} from "../../../schema/records/AttentionItem.ts"
import type { OrphanedState as OrphanedStateSchema } from "../../../schema/records/OrphanedState.ts"
import type { RunFacets as RunFacetsSchema } from "../../../schema/api/RunQueries.ts"
import type {
  FoldedRun as FoldedRunSchema,
  LatestRun as LatestRunSchema,
  Run as RunSchema
} from "../../../schema/records/Run.ts"
import type { ChangeApproval as ChangeApprovalSchema } from "../../../schema/records/ChangeApproval.ts"
import type {
  CapsuleVerdict as CapsuleVerdictSchema,
  PullRequest as PullRequestSchema
} from "../../../schema/records/PullRequest.ts"
import type { RunComment as RunCommentSchema } from "../../../schema/records/RunComment.ts"
import type {
  RunGroup as RunGroupSchema,
  SkippedCapsule as SkippedCapsuleSchema
} from "../../../schema/records/RunGroup.ts"
import type { RunWave as RunWaveSchema, WaveMember as WaveMemberSchema } from "../../../schema/records/RunWaves.ts"
import type {
  SnapshotFile as SnapshotFileSchema,
  Source as SourceSchema,
  SourceLane as SourceLaneSchema,
  SourceSnapshot as SourceSnapshotSchema
} from "../../../schema/records/Source.ts"
import type {
  Output as OutputSchema,
  StateVersion as StateVersionSchema
} from "../../../schema/records/StateVersion.ts"
import type {
  ResourceEvent as ResourceEventSchema,
  StateResource as StateResourceSchema
} from "../../../schema/records/StateResource.ts"
import type {
  NoticeDelivery as NoticeDeliverySchema,
  NoticeEndpoint as NoticeEndpointSchema
} from "../../../schema/records/NoticeEndpoint.ts"
import type { Team as TeamSchema } from "../../../schema/records/Team.ts"
import type {
  ApprovalRule as ApprovalRuleSchema,
  RunApprovals as RunApprovalsSchema
} from "../../../schema/records/Approval.ts"
import type {
  Member as MemberSchema,
  Project as ProjectSchema,
  Workspace as WorkspaceSchema
} from "../../../schema/records/Workspace.ts"

export type AutoUpdateDecision = typeof AutoUpdateDecisionSchema.Encoded
export type Workspace = typeof WorkspaceSchema.Encoded
export type Role = Workspace["role"]
export type Member = typeof MemberSchema.Encoded
export type Team = typeof TeamSchema.Encoded
export type ApprovalRule = typeof ApprovalRuleSchema.Encoded
export type NoticeEndpoint = typeof NoticeEndpointSchema.Encoded
export type NoticeDelivery = typeof NoticeDeliverySchema.Encoded
export type NoticeKind = NoticeEndpoint["kinds"][number]
export type RunApprovals = typeof RunApprovalsSchema.Encoded
export type Invitation = typeof InvitationSchema.Encoded
export type InvitationPreview = typeof InvitationPreviewSchema.Encoded
export type Project = typeof ProjectSchema.Encoded
export type Source = typeof SourceSchema.Encoded
export type SourceLane = typeof SourceLaneSchema.Encoded
export type SourceSnapshot = typeof SourceSnapshotSchema.Encoded
export type SnapshotFile = typeof SnapshotFileSchema.Encoded
export type Backup = typeof BackupSchema.Encoded
export type OutputShare = typeof OutputShareSchema.Encoded
export type InstallModules = typeof InstallModulesSchema.Encoded
export type InstallModule = InstallModules["modules"][number]
export type CompatibilityReport = typeof CompatibilityReportSchema.Encoded
export type ReportVariable = CompatibilityReport["variables"][number]
export type Finding = CompatibilityReport["findings"][number]
export type ProviderRequirement = typeof ProviderRequirementSchema.Encoded
export type ProviderBinding = typeof ProviderBindingSchema.Encoded
export type InstallConfig = typeof InstallConfigSchema.Encoded
export type DeclaredVariable = InstallConfig["variables"][number]
export type SourceBuild = NonNullable<InstallConfig["sourceBuild"]>
export type Capsule = typeof CapsuleSchema.Encoded
export type NewDependency = typeof NewDependencySchema.Encoded
export type Dependency = typeof DependencySchema.Encoded
export type Run = typeof RunSchema.Encoded
export type ChangeApproval = typeof ChangeApprovalSchema.Encoded
export type CapsuleVerdict = typeof CapsuleVerdictSchema.Encoded
export type PullRequest = typeof PullRequestSchema.Encoded
export type PullRequestCapsule = NonNullable<PullRequest["capsules"]>[number]
export type ModuleReview = NonNullable<PullRequest["review"]>["modules"][number]
export type RunComment = typeof RunCommentSchema.Encoded
export type RunGroup = typeof RunGroupSchema.Encoded
export type RunWave = typeof RunWaveSchema.Encoded
export type WaveMember = typeof WaveMemberSchema.Encoded
export type LatestRun = typeof LatestRunSchema.Encoded
export type FoldedRun = typeof FoldedRunSchema.Encoded
export type RunFacets = typeof RunFacetsSchema.Encoded
export type SkippedCapsule = typeof SkippedCapsuleSchema.Encoded
export type RunType = Run["type"]
export type RunStatus = Run["status"]
export type ResourceChange = NonNullable<Run["resourceChanges"]>[number]
export type ChangeCauses = typeof ChangeCausesSchema.Encoded
export type ChangeCause = ChangeCauses["causes"][number]
export type ChangedAttribute = ResourceChange["changedAttributes"][number]
export type OutputChange = NonNullable<Run["outputChanges"]>[number]
export type PlanSummary = NonNullable<Run["planSummary"]>
export type RunDiagnostic = NonNullable<Run["diagnostics"]>[number]
export type RunEvent = typeof RunEventSchema.Encoded
export type LogEntry = typeof RunLogEntry.Encoded
export type StateVersion = typeof StateVersionSchema.Encoded
export type StateResource = typeof StateResourceSchema.Encoded
export type ResourceEvent = typeof ResourceEventSchema.Encoded
export type OrphanedState = typeof OrphanedStateSchema.Encoded
export type Output = typeof OutputSchema.Encoded
export type Connection = typeof ConnectionSchema.Encoded
export type GrantedUse = typeof GrantedUseSchema.Encoded
export type OAuthHelper = typeof OAuthHelperSchema.Encoded
export type CredentialRecipe = typeof CredentialRecipeSchema.Encoded
export type AuditEvent = typeof AuditEventSchema.Encoded
export type NewInstallPlan = Body<typeof installPlansCreate>
export type StateUpload = typeof StateUploadSchema.Encoded
export type InstallPlan = typeof InstallPlanSchema.Encoded
export type RevisionPlan = typeof RevisionPlanSchema.Encoded
export type Departure = typeof DepartureSchema.Encoded
export type TokenRecord = typeof AccountToken.Encoded
export type AccountSession = typeof AccountSessionSchema.Encoded & { readonly current: boolean }
export type AccountNotice = typeof AccountNoticeSchema.Encoded
export type Passkey = typeof PasskeySchema.Encoded
export type LinkedIdentity = typeof LinkedIdentitySchema.Encoded
/** The status of the person's identity confirmation, and the available ways to confirm the identity. */
export interface Confirmation {
  readonly confirmed: boolean
  readonly password: boolean
  /** True if a second-factor code is required in addition to the password. */
  readonly code: boolean
  readonly passkeys: boolean
  readonly provider?: { readonly name: string }
}
export type Discovery = typeof DiscoverySchema.Encoded

/**
 * An application that can currently act for the person, and its permissions. `offline` means that the application can act
 * while the person is away.
 */
export interface ApplicationGrant {
  readonly id: string
  readonly clientId: string
  readonly clientName: string
  readonly workspaceId?: string
  readonly scopes: ReadonlyArray<string>
  readonly offline: boolean
  readonly createdAt: string
}

export interface Bilingual {
  readonly ja: string
  readonly en: string
}

export type Bootstrap = Answer<typeof dashboardBootstrap>
export type AttentionItem = typeof AttentionItemSchema.Encoded
export type CapsuleHealth = typeof CapsuleHealthSchema.Encoded

export type Agent = typeof AgentSchema.Encoded
export type WorkspacePool = typeof WorkspacePoolSchema.Encoded

export type Overview = Answer<typeof dashboardOverview>
export type Graph = Answer<typeof workspacesGraph>
