import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { OperatorPolicy } from "../../../schema/manifest/OperatorPolicy.ts"
import { InstallPolicy } from "../../ledger/configuration/InstallConfigCompilation.ts"
import { findInterfaceByResource } from "../../ledger/interface/InterfaceResource.ts"
import { type InterfaceUse, readInterfaceUse } from "../../ledger/interface/InterfaceRow.ts"
import type { Client } from "./Client.ts"
import { rowShape } from "../../base/database/Table.ts"
import { WorkspaceId } from "../../../schema/records/Ids.ts"

const UsedWorkspace = rowShape({ workspaceId: WorkspaceId })

/** Delivery type of bindings whose permissions appear in tokens. */
const delivery = "oauth2"

/** The client, person, Workspace and resource of a token. */
export interface InterfaceTokenRequest {
  readonly client: Client
  readonly subject: string
  readonly workspaceId: WorkspaceId | undefined
  readonly resource: string
}

/**
 * Returns true if the client may use a binding. A Capsule's application may use the Interfaces that its Capsule consumes or
 * offers. An application that the operator admits to Interfaces may use all of the person's bindings.
 */
const isFor =
  (owner: Client["owner"], row: UsedInterface["row"]) =>
  ({ consumerCapsuleId }: InterfaceUse["bindings"][number]): boolean =>
    owner === undefined ||
    consumerCapsuleId === owner.capsuleId ||
    (consumerCapsuleId === undefined && row.capsule_id === owner.capsuleId)

/** An Interface with one person's bindings to it. */
export type UsedInterface = Pick<InterfaceUse, "bindings"> & { readonly row: Pick<InterfaceUse["row"], "capsule_id"> }

/** Returns the bindings' permissions, limited by the operator's policy. */
export const boundPermissions = (
  client: Pick<Client, "owner">,
  { bindings, row }: UsedInterface,
  policy: Pick<OperatorPolicy, "allowedPermissions">
): ReadonlyArray<string> => {
  const bound = new Set(bindings.filter(isFor(client.owner, row)).flatMap(({ permissions }) => permissions))
  return policy.allowedPermissions
    .filter((pair) => pair.delivery === delivery && bound.has(pair.permission))
    .map(({ permission }) => permission)
}

/**
 * Returns the permissions that a client's tokens may currently contain for the Interface with this resource URL: the
 * permissions of the person's bindings, limited by the operator's current policy. Returns an empty list if the client,
 * Workspace or Interface does not match. Fails if the database fails, so that a failure never looks like an empty result.
 */
export const interfacePermissions = Effect.fn("interfacePermissions")(function* (
  sql: SqlClient.SqlClient,
  { client, resource, subject, workspaceId }: InterfaceTokenRequest
): Effect.fn.Return<ReadonlyArray<string>, SqlError> {
  // A token is valid in one Workspace, so the person must have chosen one.
  if (!client.interfaces || workspaceId === undefined) return []
  const interfaceId = yield* findInterfaceByResource(sql, workspaceId, resource)
  if (interfaceId === undefined) return []
  const use = yield* readInterfaceUse(sql, { interfaceId, subject, delivery })
  if (use === undefined) return []
  const { policy } = yield* InstallPolicy
  return boundPermissions(client, use, policy)
})

/**
 * Returns the Workspaces in which this resource URL is an Interface that the person may invoke through the client. If the client
 * requests no Workspace, the issuer uses the result only if it contains exactly one.
 */
export const workspacesOfResource = Effect.fn("workspacesOfResource")(function* (
  sql: SqlClient.SqlClient,
  { client, resource, subject }: Omit<InterfaceTokenRequest, "workspaceId">
): Effect.fn.Return<ReadonlyArray<WorkspaceId>, SqlError> {
  const rows = yield* UsedWorkspace.rows(sql)`SELECT DISTINCT m.workspace_id AS "workspaceId"
    FROM memberships m JOIN interfaces i ON i.workspace_id = m.workspace_id
    WHERE m.subject = ${subject} AND m.status = 'active' AND i.status = 'resolved'
      AND REPLACE(i.inputs, ${JSON.stringify(resource)}, '') <> i.inputs ORDER BY m.workspace_id`
  const meant: Array<WorkspaceId> = []
  for (const { workspaceId } of rows) {
    const permissions = yield* interfacePermissions(sql, { client, resource, subject, workspaceId })
    if (permissions.length > 0) meant.push(workspaceId)
  }
  return meant
})
