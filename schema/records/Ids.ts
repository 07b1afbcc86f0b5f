import { Schema } from "effect"

/** Every record id: a prefix, `_`, then at least 80 bits in lower-case base32 or hex (gaps section 1). */
const id = <const Prefix extends string, const Brand extends string>(prefix: Prefix, brand: Brand) =>
  Schema.String.check(
    Schema.isPattern(new RegExp(`^${prefix}_[a-z0-9]{16,64}$`), { description: `an id starting with ${prefix}_` })
  ).pipe(Schema.brand(brand))

export const WorkspaceId = id("ws", "WorkspaceId")
export type WorkspaceId = typeof WorkspaceId.Type
export const MembershipId = id("mbr", "MembershipId")
export type MembershipId = typeof MembershipId.Type
export const ProjectId = id("prj", "ProjectId")
export type ProjectId = typeof ProjectId.Type
export const SourceId = id("src", "SourceId")
export type SourceId = typeof SourceId.Type
export const SourceSnapshotId = id("snap", "SourceSnapshotId")
export type SourceSnapshotId = typeof SourceSnapshotId.Type
export const CompatibilityReportId = id("rep", "CompatibilityReportId")
export type CompatibilityReportId = typeof CompatibilityReportId.Type
export const CapsuleId = id("cap", "CapsuleId")
export type CapsuleId = typeof CapsuleId.Type
export const InstallConfigId = id("icfg", "InstallConfigId")
export type InstallConfigId = typeof InstallConfigId.Type
export const InstallPlanId = id("ipl", "InstallPlanId")
export type InstallPlanId = typeof InstallPlanId.Type
export const RevisionPlanId = id("rpl", "RevisionPlanId")
export type RevisionPlanId = typeof RevisionPlanId.Type
export const RunId = id("run", "RunId")
export type RunId = typeof RunId.Type
export const RunGroupId = id("rgrp", "RunGroupId")
export type RunGroupId = typeof RunGroupId.Type
export const StateVersionId = id("sv", "StateVersionId")
export type StateVersionId = typeof StateVersionId.Type
export const OutputId = id("out", "OutputId")
export type OutputId = typeof OutputId.Type
export const ConnectionId = id("conn", "ConnectionId")
export type ConnectionId = typeof ConnectionId.Type
export const ProviderBindingId = id("pb", "ProviderBindingId")
export type ProviderBindingId = typeof ProviderBindingId.Type
export const OutputShareId = id("oshare", "OutputShareId")
export type OutputShareId = typeof OutputShareId.Type
export const DependencyId = id("dep", "DependencyId")
export type DependencyId = typeof DependencyId.Type
export const InterfaceId = id("ifc", "InterfaceId")
export type InterfaceId = typeof InterfaceId.Type
export const InterfaceBindingId = id("ifb", "InterfaceBindingId")
export type InterfaceBindingId = typeof InterfaceBindingId.Type
export const AuditEventId = id("act", "AuditEventId")
export type AuditEventId = typeof AuditEventId.Type
export const AccessTokenId = id("pat", "AccessTokenId")
export type AccessTokenId = typeof AccessTokenId.Type
export const BackupId = id("bkp", "BackupId")
export type BackupId = typeof BackupId.Type

/** The stable id of a person or service account: the `sub` of tokens, never an e-mail address. */
export const Subject = id("usr", "Subject")
export type Subject = typeof Subject.Type
