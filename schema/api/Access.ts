import type { Role } from "../records/Workspace.ts"

/** The path parameter, query key or body field that identifies the Workspace of a request. */
export type WorkspaceLocator =
  | "path.workspaceId"
  | "path.projectId"
  | "path.capsuleId"
  | "path.dependencyId"
  | "path.capsuleConfigId"
  | "path.installPlanId"
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
 * The kind of a record that a body refers to. It decides when a token limited to Projects or environments may refer to the
 * record.
 *
 * - `boundConnection`: a Connection that the Capsule in the path already binds. No other Connection is within a token's limits.
 * - `capsule`: a Capsule within the limits.
 * - `configuration`: a configuration of a Capsule within the limits.
 * - `snapshot`: a snapshot of the Source of the Capsule in the path.
 */
export type NamedRecord = "boundConnection" | "capsule" | "configuration" | "snapshot"

export interface WorkspaceAccess {
  readonly kind: "workspace"
  readonly role: Role
  readonly locate: WorkspaceLocator
  readonly session?: boolean
  readonly confirmed?: boolean
  readonly archived?: "open"
  /**
   * For tokens limited to Projects or environments. `open`: the handler applies the limits itself; `refused`: the body may refer
   * to a record outside them. Otherwise the located record decides, and a record outside every Project is refused.
   */
  readonly limited?: "open" | "refused"
  /**
   * The fields of the body that contain record ids, such as `providerBindings[].connectionId`, on a route that limited tokens
   * reach. They are checked like the path, before the body is validated.
   */
  readonly records?: Readonly<Record<string, NamedRecord>>
  /**
   * The record in the path has an earlier configuration, which the route restores. A limited token gets 403 if that configuration
   * binds a Connection that the Capsule does not bind now.
   */
  readonly rebinds?: "stateVersion" | "backup"
}

/**
 * The callers that an endpoint admits. One mechanism enforces it for every route, before query or body are validated
 * (specification, Authentication, rule 4).
 *
 * - `public`: no credential is required.
 * - `account`: a signed-in person; `session` refuses tokens, `anyCredential` accepts them too. `wholeAccount` refuses credentials
 *   confined to one Workspace, because the endpoint reaches beyond it.
 * - `token`: the endpoint reads the presented bearer token itself (current authority).
 * - `workspace`: an active membership with at least `role` in the located Workspace. `shared` routes may be reached from either
 *   of two Workspaces, so the handler authorises them. An archived Workspace is read-only, unless `archived` is `open`: then the
 *   route itself decides what may still change there.
 * - `confirmed`: only in the session of a person who has confirmed their identity within the last five minutes. Tokens are
 *   refused, because no person can confirm anything for them.
 */
export type AccessRule =
  | { readonly kind: "public" }
  | { readonly kind: "account"; readonly credential: "session" | "anyCredential"; readonly wholeAccount?: boolean }
  | { readonly kind: "token" }
  | WorkspaceAccess

export const publicAccess: AccessRule = { kind: "public" }
/** A signed-in person, with access to the whole account. */
export const ownerAccess: AccessRule = { kind: "account", credential: "session", wholeAccount: true }
export const wholeAccountAccess: AccessRule = { kind: "account", credential: "anyCredential", wholeAccount: true }
export const accountAccess: AccessRule = { kind: "account", credential: "anyCredential" }
export const workspaceAccess = (role: Role, locate: WorkspaceLocator) => ({
  kind: "workspace" as const,
  role,
  locate
})
