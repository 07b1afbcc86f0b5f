import { Schema } from "effect"

/** A record id: a prefix, `_`, and at least 80 bits in lower-case base32 or hexadecimal (specification, ruling 1). */
const id = (prefix: string) =>
  Schema.String.check(
    Schema.isPattern(new RegExp(`^${prefix}_[a-z0-9]{16,64}$`), { description: `an id starting with ${prefix}_` })
  )

export const WorkspaceId = id("ws").pipe(Schema.brand("WorkspaceId"))
export type WorkspaceId = typeof WorkspaceId.Type
export const MembershipId = id("mbr").pipe(Schema.brand("MembershipId"))
export type MembershipId = typeof MembershipId.Type
export const InvitationId = id("inv").pipe(Schema.brand("InvitationId"))
export type InvitationId = typeof InvitationId.Type
export const TeamId = id("team").pipe(Schema.brand("TeamId"))
export type TeamId = typeof TeamId.Type
export const ApprovalRuleId = id("apr").pipe(Schema.brand("ApprovalRuleId"))
export type ApprovalRuleId = typeof ApprovalRuleId.Type
export const ProjectId = id("prj").pipe(Schema.brand("ProjectId"))
export type ProjectId = typeof ProjectId.Type
export const SourceId = id("src").pipe(Schema.brand("SourceId"))
export type SourceId = typeof SourceId.Type
export const SourceSnapshotId = id("snap").pipe(Schema.brand("SourceSnapshotId"))
export type SourceSnapshotId = typeof SourceSnapshotId.Type
export const CompatibilityReportId = id("rep").pipe(Schema.brand("CompatibilityReportId"))
export type CompatibilityReportId = typeof CompatibilityReportId.Type
export const CapsuleId = id("cap").pipe(Schema.brand("CapsuleId"))
export type CapsuleId = typeof CapsuleId.Type
export const InstallConfigId = id("icfg").pipe(Schema.brand("InstallConfigId"))
export type InstallConfigId = typeof InstallConfigId.Type
export const InstallPlanId = id("ipl").pipe(Schema.brand("InstallPlanId"))
export type InstallPlanId = typeof InstallPlanId.Type
export const RevisionPlanId = id("rpl").pipe(Schema.brand("RevisionPlanId"))
export type RevisionPlanId = typeof RevisionPlanId.Type
export const PullRequestId = id("pr").pipe(Schema.brand("PullRequestId"))
export type PullRequestId = typeof PullRequestId.Type
export const RunId = id("run").pipe(Schema.brand("RunId"))
export type RunId = typeof RunId.Type
export const ChangeApprovalId = id("cha").pipe(Schema.brand("ChangeApprovalId"))
export type ChangeApprovalId = typeof ChangeApprovalId.Type
export const RunCommentId = id("cmt").pipe(Schema.brand("RunCommentId"))
export type RunCommentId = typeof RunCommentId.Type
export const RunGroupId = id("rgrp").pipe(Schema.brand("RunGroupId"))
export type RunGroupId = typeof RunGroupId.Type
export const StateVersionId = id("sv").pipe(Schema.brand("StateVersionId"))
export type StateVersionId = typeof StateVersionId.Type
export const OrphanedStateId = id("lo").pipe(Schema.brand("OrphanedStateId"))
export type OrphanedStateId = typeof OrphanedStateId.Type
export const StateUploadId = id("sup").pipe(Schema.brand("StateUploadId"))
export type StateUploadId = typeof StateUploadId.Type
export const OutputId = id("out").pipe(Schema.brand("OutputId"))
export type OutputId = typeof OutputId.Type
export const ConnectionId = id("conn").pipe(Schema.brand("ConnectionId"))
export type ConnectionId = typeof ConnectionId.Type
export const ProviderBindingId = id("pb").pipe(Schema.brand("ProviderBindingId"))
export type ProviderBindingId = typeof ProviderBindingId.Type
export const OutputShareId = id("oshare").pipe(Schema.brand("OutputShareId"))
export type OutputShareId = typeof OutputShareId.Type
export const DependencyId = id("dep").pipe(Schema.brand("DependencyId"))
export type DependencyId = typeof DependencyId.Type
export const InterfaceId = id("ifc").pipe(Schema.brand("InterfaceId"))
export type InterfaceId = typeof InterfaceId.Type
export const InterfaceBindingId = id("ifb").pipe(Schema.brand("InterfaceBindingId"))
export type InterfaceBindingId = typeof InterfaceBindingId.Type
export const AutoUpdateDecisionId = id("aud").pipe(Schema.brand("AutoUpdateDecisionId"))
export type AutoUpdateDecisionId = typeof AutoUpdateDecisionId.Type
export const AuditEventId = id("act").pipe(Schema.brand("AuditEventId"))
export type AuditEventId = typeof AuditEventId.Type
export const AccessTokenId = id("pat").pipe(Schema.brand("AccessTokenId"))
export type AccessTokenId = typeof AccessTokenId.Type
export const AgentId = id("agt").pipe(Schema.brand("AgentId"))
export type AgentId = typeof AgentId.Type
export const EnrolmentTokenId = id("aet").pipe(Schema.brand("EnrolmentTokenId"))
export type EnrolmentTokenId = typeof EnrolmentTokenId.Type
export const EvidenceId = id("evd").pipe(Schema.brand("EvidenceId"))
export type EvidenceId = typeof EvidenceId.Type
export const BackupId = id("bkp").pipe(Schema.brand("BackupId"))
export type BackupId = typeof BackupId.Type
export const NoticeId = id("ntc").pipe(Schema.brand("NoticeId"))
export type NoticeId = typeof NoticeId.Type
export const NoticeEndpointId = id("nep").pipe(Schema.brand("NoticeEndpointId"))
export type NoticeEndpointId = typeof NoticeEndpointId.Type
export const NoticeDeliveryId = id("ndl").pipe(Schema.brand("NoticeDeliveryId"))
export type NoticeDeliveryId = typeof NoticeDeliveryId.Type

/** The permanent id of a person or automation: the `sub` of tokens, never an email address. */
export const Subject = id("usr").pipe(Schema.brand("Subject"))
export type Subject = typeof Subject.Type
