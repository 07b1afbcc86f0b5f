import type { ConfirmableAction } from "../records/ActionConfirmation.ts"
import type { Role } from "../records/Workspace.ts"

/**
 * The field of a request that identifies the Workspace, directly or through a record in it: a path parameter, a query key or
 * a body field.
 */
export type WorkspaceLocator =
  | "path.workspaceId"
  | "path.projectId"
  | "path.capsuleId"
  | "path.dependencyId"
  | "path.capsuleConfigId"
  | "path.installPlanId"
  | "path.pullRequestId"
  | "path.revisionPlanId"
  | "path.sourceId"
  | "path.reportId"
  | "path.runId"
  | "path.runGroupId"
  | "path.stateVersionId"
  | "path.connectionId"
  | "path.backupId"
  | "path.shareId"
  | "query.workspaceId"
  | "body.workspaceId"
  | "body.fromWorkspaceId"

/**
 * The kind of a record that a body refers to. It determines when a token limited to Projects or environments may refer to the
 * record.
 *
 * - `boundConnection`: a Connection that the Capsule in the path already binds; all other Connections are outside the limits
 * - `capsule`: a Capsule within the limits
 * - `configuration`: a configuration of a Capsule within the limits
 * - `person`: never within the limits, which do not include the members of the Workspace
 * - `snapshot`: a snapshot of the Source that the Capsule in the path uses
 */
export type NamedRecord = "boundConnection" | "capsule" | "configuration" | "person" | "snapshot"

export interface WorkspaceAccess {
  readonly kind: "workspace"
  readonly role: Role
  readonly locate: WorkspaceLocator
  readonly session?: boolean
  readonly confirmed?: boolean
  /**
   * With `confirmed`: also admits a token whose owner has confirmed this action in the browser.
   */
  readonly action?: ConfirmableAction
  readonly archived?: "open"
  /**
   * How the route treats tokens limited to Projects or environments. `open`: the handler applies the limits. `refused`: the
   * route rejects such tokens, because the body may refer to records outside the limits. By default, the limits apply to the
   * record in the request, and a record outside every Project is rejected.
   */
  readonly limited?: "open" | "refused"
  /**
   * Body fields that contain record ids, such as `providerBindings[].connectionId`, on a route that limited tokens can use.
   * The ids are checked like those in the path, before the body is validated.
   */
  readonly records?: Readonly<Record<string, NamedRecord>>
  /**
   * Set if the route restores an earlier configuration of the record in the path. A limited token gets 403 if that configuration
   * binds a Connection that the Capsule does not bind now.
   */
  readonly rebinds?: "stateVersion" | "backup"
}

/**
 * The callers that an endpoint admits. Every route applies the same check before the query or body is validated
 * (specification, Authentication, rule 4).
 * - `public`: requires no credential
 * - `account`: a signed-in person; `session` rejects tokens, `anyCredential` also accepts tokens; `wholeAccount` rejects
 *   credentials bound to one Workspace, because the endpoint affects more than that Workspace - `token`: the endpoint itself
 *   reads the presented bearer token (current authority)
 * - `workspace`: an active membership with at least `role` in the Workspace of the request; a `shared` route may be used by
 *   two Workspaces, so its handler authorises the caller; an archived Workspace is read-only unless `archived` is `open`, in
 *   which case the route decides what may still change
 * - `confirmed`: only in the session of a person who has confirmed their identity within the last five minutes; rejects tokens,
 *   except with a confirmation of `action`
 */
export type AccessRule =
  | { readonly kind: "public" }
  | { readonly kind: "account"; readonly credential: "session" | "anyCredential"; readonly wholeAccount?: boolean }
  | { readonly kind: "token" }
  | WorkspaceAccess

export const publicAccess: AccessRule = { kind: "public" }
/** Admits a signed-in person whose session is not bound to one Workspace. */
export const ownerAccess: AccessRule = { kind: "account", credential: "session", wholeAccount: true }
export const wholeAccountAccess: AccessRule = { kind: "account", credential: "anyCredential", wholeAccount: true }
export const accountAccess: AccessRule = { kind: "account", credential: "anyCredential" }
/** Admits a signed-in person who uses a session, not a token. */
export const sessionAccess: AccessRule = { kind: "account", credential: "session" }
export const workspaceAccess = (role: Role, locate: WorkspaceLocator) => ({
  kind: "workspace" as const,
  role,
  locate
})
