import { Schema } from "effect"
import { ProjectId, Subject, WorkspaceId } from "./Ids.ts"
import { WorkspaceDriftChecks } from "./DriftChecks.ts"
import { Timestamp } from "./Primitives.ts"

/**
 * A viewer can read; a member can also plan; an admin can also approve, apply, and manage Connections and members; an owner
 * can do everything.
 */
export const Role = Schema.Literals(["owner", "admin", "member", "viewer"])
export type Role = typeof Role.Type

const rank: Record<Role, number> = { viewer: 0, member: 1, admin: 2, owner: 3 }

/** Returns true if `role` includes all permissions of `required`. */
export const roleAtLeast = (role: Role, required: Role): boolean => rank[role] >= rank[required]

export const WorkspaceHandle = Schema.String.check(
  Schema.isPattern(/^[a-z0-9][a-z0-9-]{1,38}$/, {
    description: "2 to 39 of a-z, 0-9 and -, starting with a letter or digit"
  })
)

/** While set, svc does not start plans or applies automatically. Source checks continue. */
export class AutomationPause extends Schema.Opaque<AutomationPause>()(
  Schema.Struct({
    at: Timestamp,
    /** The person who paused automation. */
    by: Schema.String,
    reason: Schema.optionalKey(Schema.String)
  }).annotate({ identifier: "AutomationPause" })
) {}

export class Workspace extends Schema.Opaque<Workspace>()(
  Schema.Struct({
    id: WorkspaceId,
    handle: WorkspaceHandle,
    displayName: Schema.String,
    type: Schema.Literals(["personal", "organization"]),
    /** The caller's role. */
    role: Role,
    archivedAt: Schema.optionalKey(Timestamp),
    /** Absent while automation is not paused. */
    automationPause: Schema.optionalKey(AutomationPause),
    driftChecks: WorkspaceDriftChecks,
    createdAt: Timestamp,
    updatedAt: Timestamp
  }).annotate({ identifier: "Workspace" })
) {}

/** Only `active` grants access. `unconfirmed`: restored from a backup, and the operator has not confirmed it yet. */
export const MemberStatus = Schema.Literals(["active", "invited", "suspended", "unconfirmed"])
export type MemberStatus = typeof MemberStatus.Type

/** An `automation` never signs in. It uses tokens that owners and admins of its Workspace create. */
export const SubjectKind = Schema.Literals(["person", "automation"])
export type SubjectKind = typeof SubjectKind.Type

export class Member extends Schema.Opaque<Member>()(
  Schema.Struct({
    subject: Subject,
    kind: SubjectKind,
    displayName: Schema.optionalKey(Schema.String),
    email: Schema.optionalKey(Schema.String),
    role: Role,
    /**
     * A higher role that an owner's invitation link offered. It takes effect when an owner grants it; any other role change
     * cancels the offer.
     */
    offeredRole: Schema.optionalKey(Role),
    status: MemberStatus,
    createdAt: Timestamp,
    updatedAt: Timestamp
  }).annotate({ identifier: "Member" })
) {}

export class Project extends Schema.Opaque<Project>()(
  Schema.Struct({
    id: ProjectId,
    workspaceId: WorkspaceId,
    name: Schema.String,
    slug: Schema.String,
    createdAt: Timestamp,
    updatedAt: Timestamp
  }).annotate({ identifier: "Project" })
) {}
