import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { InterfaceId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { AccessJson, InputsJson, InterfaceRow } from "./InterfaceRow.ts"

const decodeAccess = Schema.decodeUnknownSync(AccessJson)
const decodeInputs = Schema.decodeUnknownSync(InputsJson)

/** The address that an Interface names as its protected resource, from its current inputs. */
const resourceUriOf = (row: Pick<InterfaceRow, "access" | "inputs">): string | undefined => {
  const { resourceUriInput } = decodeAccess(row.access)
  const value = resourceUriInput === undefined ? undefined : decodeInputs(row.inputs)[resourceUriInput]
  return typeof value === "string" ? value : undefined
}

/**
 * The only resolved Interface of a Workspace with exactly this address as its protected resource. `undefined` if there is none or
 * more than one: svc does not guess, because a binding to one Interface must not open another.
 */
export const findInterfaceByResource = Effect.fn("findInterfaceByResource")(function* (
  sql: SqlClient.SqlClient,
  workspaceId: WorkspaceId,
  resource: string
): Effect.fn.Return<InterfaceId | undefined, SqlError> {
  // The inputs contain the address as a JSON string, which excludes most rows.
  const rows = yield* InterfaceRow.some(sql, "id", "access", "inputs")`SELECT id, access, inputs FROM interfaces
    WHERE workspace_id = ${workspaceId} AND status = 'resolved'
      AND REPLACE(inputs, ${JSON.stringify(resource)}, '') <> inputs`
  const named = rows.filter((row) => resourceUriOf(row) === resource)
  return named.length === 1 ? named[0]?.id : undefined
})
