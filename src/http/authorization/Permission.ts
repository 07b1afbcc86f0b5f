import { Result } from "effect"
import type { AccessRule } from "../../../schema/api/Access.ts"
import { membershipUnconfirmed } from "../../../actors/ledger/workspace/Workspaces.ts"
import { ApiError } from "../../../schema/errors/ApiError.ts"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import { type Role, roleAtLeast } from "../../../schema/records/Workspace.ts"
import type { Principal } from "../../../actors/base/credential/Principal.ts"
import type { LocatedWorkspace } from "./WorkspaceLocation.ts"

/** A Workspace that a request may use, and the caller's role in this Workspace. */
export interface GrantedWorkspace {
  readonly workspaceId: WorkspaceId
  readonly role: Role
  readonly archived: boolean
}

const denied = (message: string) => new ApiError({ code: "permission_denied", message })

const sessionNeeded = denied("This route needs the session of a signed-in person; tokens are refused.")
const confined = denied("The credential is bound to one Workspace; this needs one of the whole account.")
const elsewhere = denied("The credential is bound to another Workspace.")
const foreign = denied("You are not an active member of this Workspace.")
const noAccount = denied("The service itself has no account. Act for a person here.")
const inactive = new ApiError({
  code: "workspace_membership_inactive",
  message: "The membership behind this credential is not active in its Workspace."
})

const readMethods: ReadonlySet<string> = new Set(["GET", "HEAD"])

/** Returns true if the credential is for a program. A person can confirm such a program's actions. */
export const isToken = ({ credential }: Principal): boolean => credential === "token" || credential === "oauth"

/** Returns the refusal for a credential whose kind does not permit the request. */
export const credentialRefusal = (principal: Principal, rule: AccessRule): ApiError | undefined => {
  const wantsSession =
    (rule.kind === "account" && rule.credential === "session") ||
    (rule.kind === "workspace" && (rule.session === true || rule.confirmed === true))
  const isConfirmable = rule.kind === "workspace" && rule.action !== undefined && isToken(principal)
  if (wantsSession && principal.credential !== "session" && !isConfirmable) return sessionNeeded
  if (rule.kind === "account" && principal.credential === "service") return noAccount
  return rule.kind === "account" && rule.wholeAccount === true && principal.boundWorkspaceId !== undefined
    ? confined
    : undefined
}

/** Returns the refusal for a credential that lacks the scope required by the method, whatever the request contains. */
export const scopeRefusal = (principal: Principal, method: string): ApiError | undefined => {
  if (principal.scopes === "all") return undefined
  const scope = readMethods.has(method) ? "read" : "write"
  return principal.scopes.includes(scope)
    ? undefined
    : new ApiError({
        code: "insufficient_scope",
        message: `The token lacks the scope \`${scope}\`, which a ${method} request needs.`
      })
}

/**
 * From the Workspaces that own the record, selects the one in which the principal acts, and adds the principal's role there.
 */
export const grantedWorkspace = (
  principal: Principal,
  required: Role,
  located: ReadonlyArray<LocatedWorkspace>
): Result.Result<GrantedWorkspace, ApiError> => {
  if (principal.credential === "service") {
    const [place] = located
    return place === undefined ? Result.fail(foreign) : Result.succeed({ ...place, role: "owner" })
  }
  const bound = principal.boundWorkspaceId
  const reachable = bound === undefined ? located : located.filter((place) => place.workspaceId === bound)
  if (reachable.length === 0) return Result.fail(bound === undefined ? foreign : elsewhere)
  const memberships = reachable.flatMap(({ archived, memberStatus, role, workspaceId }) =>
    role !== undefined && memberStatus === "active" ? [{ workspaceId, role, archived }] : []
  )
  const granted = memberships.find(({ role }) => roleAtLeast(role, required))
  if (granted !== undefined) return Result.succeed(granted)
  if (memberships.length === 0 && reachable.some(({ memberStatus }) => memberStatus === "unconfirmed")) {
    return Result.fail(membershipUnconfirmed)
  }
  if (memberships.length === 0) return Result.fail(bound === undefined ? foreign : inactive)
  return Result.fail(denied(`This needs the role ${required} or more in the Workspace; ask an owner.`))
}
