import { type ApiError, failedPrecondition, invalidRequest } from "../../../schema/errors/ApiError.ts"
import { type Role, roleAtLeast, type SubjectKind } from "../../../schema/records/Workspace.ts"
import { permissionDenied } from "./InvitationRights.ts"

const noOwner = () => failedPrecondition("role: an automation cannot own a Workspace. Give it admin at most.")

/** Why a member with the role `held` may not create an automation with this role; `undefined` when they may. */
export const makingRefusal = (held: Role | undefined, role: Role): ApiError | undefined => {
  if (held === undefined || !roleAtLeast(held, "admin")) {
    return permissionDenied("Owners and admins manage members; ask one of them.")
  }
  if (role === "owner") return noOwner()
  return roleAtLeast(held, role)
    ? undefined
    : permissionDenied("role: nobody gives an automation more than their own role.")
}

/** Why a member of this kind cannot be changed in this way; `undefined` if it can. */
export const kindRefusal = (
  kind: SubjectKind,
  wanted: { readonly role?: Role | undefined; readonly displayName?: string | undefined }
): ApiError | undefined => {
  if (kind === "automation") return wanted.role === "owner" ? noOwner() : undefined
  return wanted.displayName === undefined
    ? undefined
    : invalidRequest("displayName: only an automation is renamed here; people name themselves.")
}
