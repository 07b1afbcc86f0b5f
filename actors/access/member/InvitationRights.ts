import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ApiError, failedPrecondition, invalidRequest } from "../../../schema/errors/ApiError.ts"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import { Role, roleAtLeast, type SubjectKind } from "../../../schema/records/Workspace.ts"
import { rowShape } from "../../base/database/Table.ts"

/** The inviter: a subject, or the operator who uses the machine's command line. */
export type Inviter = { readonly subject: string } | "operator"

export const permissionDenied = (message: string) => new ApiError({ code: "permission_denied", message })

const RoleHeld = rowShape({ role: Role })

/**
 * Returns the role of an active member with an active account, and `owner` for the operator. Reads the database in the
 * caller's transaction.
 */
export const roleHeld = Effect.fn("roleHeld")(function* (workspaceId: WorkspaceId, acting: Inviter) {
  if (acting === "operator") return "owner" as const
  const sql = yield* SqlClient.SqlClient
  const [held] = yield* Effect.orDie(RoleHeld.rows(sql)`SELECT m.role FROM memberships m
    JOIN users u ON u.subject = m.subject
    WHERE m.workspace_id = ${workspaceId} AND m.subject = ${acting.subject}
      AND m.status = 'active' AND u.status = 'active'`)
  return held?.role
})

/** Returns the reason why a member with the role `held` may not invite somebody as `role`, or `undefined` if they may. */
export const invitationRefusal = (held: Role | undefined, role: Role, open: boolean): ApiError | undefined => {
  if (held === undefined || !roleAtLeast(held, "admin")) {
    return permissionDenied("Owners and admins manage members; ask one of them.")
  }
  if (role === "owner" && held !== "owner") return permissionDenied("Only owners add owners.")
  return open && roleAtLeast(role, "admin") && held !== "owner"
    ? permissionDenied(
        "A link that anybody may use grants member at most, unless an owner makes it. Name an address, or ask an owner."
      )
    : undefined
}

/**
 * Returns the role that an acceptance grants immediately, and the role that an owner has to confirm afterwards. Whoever
 * opens a link first can use it, so a link alone never grants more than `member`.
 */
export const grantedBy = (role: Role, open: boolean): { readonly role: Role; readonly offeredRole: Role | null } =>
  open && roleAtLeast(role, "admin") ? { role: "member", offeredRole: role } : { role, offeredRole: null }

/** The error for unknown, used, withdrawn and expired invitations, which must not be distinguishable. */
export const refusedInvitation = () =>
  new ApiError({
    code: "not_found",
    message: "The invitation is unknown, was used or withdrawn, or has expired. Ask for a new one."
  })

export const lapsedInvitation = () =>
  failedPrecondition("The person who sent this invitation may no longer give that role. Ask an owner for a new one.")

const noOwner = () => failedPrecondition("role: an automation cannot own a Workspace. Give it admin at most.")

/**
 * Returns the reason why a member with the role `held` may not create an automation with this role, or `undefined` if they may.
 */
export const makingRefusal = (held: Role | undefined, role: Role): ApiError | undefined => {
  if (held === undefined || !roleAtLeast(held, "admin")) {
    return permissionDenied("Owners and admins manage members; ask one of them.")
  }
  if (role === "owner") return noOwner()
  return roleAtLeast(held, role)
    ? undefined
    : permissionDenied("role: nobody gives an automation more than their own role.")
}

/** Returns the reason why this change does not apply to members of this kind, or `undefined` if it does. */
export const kindRefusal = (
  kind: SubjectKind,
  wanted: { readonly role?: Role | undefined; readonly displayName?: string | undefined }
): ApiError | undefined => {
  if (kind === "automation") return wanted.role === "owner" ? noOwner() : undefined
  return wanted.displayName === undefined
    ? undefined
    : invalidRequest("displayName: only an automation is renamed here; people name themselves.")
}
