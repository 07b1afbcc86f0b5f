import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { InterfaceId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { AccessJson, InputsJson, InterfaceRow } from "./InterfaceRow.ts"

const decodeAccess = Schema.decodeUnknownSync(AccessJson)
const decodeInputs = Schema.decodeUnknownSync(InputsJson)

/** Returns the URL of the protected resource in an Interface's current inputs. */
const resourceUriOf = (row: Pick<InterfaceRow, "access" | "inputs">): string | undefined => {
  const { resourceUriInput } = decodeAccess(row.access)
  const value = resourceUriInput === undefined ? undefined : decodeInputs(row.inputs)[resourceUriInput]
  return typeof value === "string" ? value : undefined
}

/**
 * Finds the only resolved Interface of a Workspace with exactly this resource URL. Returns `undefined` if several match, because
 * a binding to one Interface must not grant access to another.
 */
export const findInterfaceByResource = Effect.fn("findInterfaceByResource")(function* (
  sql: SqlClient.SqlClient,
  workspaceId: WorkspaceId,
  resource: string
): Effect.fn.Return<InterfaceId | undefined, SqlError> {
  // The URL appears in the inputs as a JSON string, so this condition excludes most rows early.
  const rows = yield* InterfaceRow.some(sql, "id", "access", "inputs")`SELECT id, access, inputs FROM interfaces
    WHERE workspace_id = ${workspaceId} AND status = 'resolved'
      AND REPLACE(inputs, ${JSON.stringify(resource)}, '') <> inputs`
  const named = rows.filter((row) => resourceUriOf(row) === resource)
  return named.length === 1 ? named[0]?.id : undefined
})
