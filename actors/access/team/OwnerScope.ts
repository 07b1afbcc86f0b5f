import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import { permissionDenied, roleHeld } from "../member/InvitationRights.ts"
import { refuseArchived } from "../../ledger/workspace/ArchivedWorkspace.ts"

/** The Workspace, and the person acting on it. */
export interface OwnerScope {
  readonly workspaceId: WorkspaceId
  readonly subject: string
}

/** Refuses anybody but an owner, as of the caller's transaction, and refuses everybody in an archived Workspace. */
export const requireOwner = Effect.fn("requireOwner")(function* (
  { subject, workspaceId }: OwnerScope,
  refusal: string
) {
  const sql = yield* SqlClient.SqlClient
  const own = Effect.provideService(SqlClient.SqlClient, sql)
  if ((yield* own(roleHeld(workspaceId, { subject }))) !== "owner") return yield* permissionDenied(refusal)
  yield* own(refuseArchived(workspaceId))
})
