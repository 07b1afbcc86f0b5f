import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { localPool } from "../../../schema/agent/PoolName.ts"
import type { ProvidedBy } from "../../../schema/agent/ProvidedName.ts"
import type { CreateConnection } from "../../../schema/api/ConnectionsApi.ts"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import type { ConnectionRow } from "./ConnectionRow.ts"
import { genericRecipeId } from "./CredentialRecipes.ts"

/** Returns the pool's credentials that a Connection uses, or `undefined` if svc itself stores its values. */
export const providedOf = ({
  provided_name: name,
  provided_pool: pool
}: Pick<ConnectionRow, "provided_name" | "provided_pool">): ProvidedBy | undefined =>
  name === null || pool === null ? undefined : { pool, name }

type Asked = Pick<CreateConnection, "authMode" | "files" | "kind" | "origins" | "providedBy" | "recipeId" | "values">

/** Returns the reason why a new Connection cannot use a pool's credentials, for example because svc itself would need a value. */
export const poolCredentialsProblem = ({
  authMode,
  files = [],
  kind = "provider",
  origins,
  providedBy,
  recipeId = genericRecipeId,
  values = {}
}: Asked): string | undefined => {
  if (providedBy === undefined) return undefined
  if (kind !== "provider" || origins !== undefined) {
    return "providedBy: repositories are fetched by the control plane, which never has what a pool provides."
  }
  if (providedBy.pool === localPool) {
    return `providedBy.pool: ${localPool} is the control plane itself; give it the values instead.`
  }
  if (files.length + Object.keys(values).length > 0) {
    return "providedBy: the values stay with the agents of the pool; leave values and files out."
  }
  return recipeId !== genericRecipeId || authMode !== undefined
    ? "providedBy: a recipe lists values for the control plane to store; omit recipeId and authMode."
    : undefined
}

/** Returns true if the operator allows a Workspace to use a pool's credentials. */
export const isProvidedTo = Effect.fnUntraced(function* (workspaceId: WorkspaceId | null, { name, pool }: ProvidedBy) {
  const sql = yield* SqlClient.SqlClient
  const found = yield* Effect.orDie(sql`SELECT 1 AS one FROM agent_pool_provisions v
    JOIN agent_pool_workspaces w ON w.pool = v.pool AND w.workspace_id = v.workspace_id
    JOIN agent_pools p ON p.name = v.pool AND p.archived_at IS NULL
    WHERE v.pool = ${pool} AND v.name = ${name} AND v.workspace_id = ${workspaceId}`)
  return found.length > 0
})

/** Returns the same message if the pool does not exist, so that the message does not reveal which pools exist. */
export const notProvided = ({ name, pool }: ProvidedBy): string =>
  `The operator does not let this Workspace use the credentials ${name} of the pool ${pool}. The operator does that with: svc admin pool provide ${pool} ${name} WORKSPACE`
