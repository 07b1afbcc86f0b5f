import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { failedPrecondition } from "../../../schema/errors/ApiError.ts"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"

/** The refusal of a change inside an archived Workspace. */
export const archivedWorkspace = () =>
  failedPrecondition('The Workspace is archived. Restore it first with PATCH {"archived": false}.')

/** Refuses, in the caller's transaction, to change anything inside an archived Workspace. */
export const refuseArchived = Effect.fn("refuseArchived")(function* (workspaceId: WorkspaceId) {
  const sql = yield* SqlClient.SqlClient
  const archived = yield* sql`SELECT 1 AS one FROM workspaces WHERE id = ${workspaceId} AND archived_at IS NOT NULL`
  if (archived.length > 0) return yield* archivedWorkspace()
})
