import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { failedPrecondition } from "../../../schema/errors/ApiError.ts"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import { MemberStatus } from "../../../schema/records/Workspace.ts"
import { rowShape } from "../../base/database/Table.ts"

/**
 * The error for a membership that a restore brought back. The Workspace may end the membership, but only the operator may
 * confirm it.
 */
export const unconfirmedMember = () =>
  failedPrecondition(
    "A restore brought this membership back, and the operator has to confirm it with `svc admin restore-review`. It can be removed."
  )

export const alreadyMember = () => failedPrecondition("The person is a member of this Workspace already.")

const Existing = rowShape({ status: MemberStatus })

/**
 * Fails if the invited person is listed as an active member. Performs the same single read whether or not an account exists,
 * so that the response time does not reveal it.
 */
export const refuseMember = Effect.fn("refuseMember")(function* (
  workspaceId: WorkspaceId,
  person: { readonly email: string | null; readonly subject: string | null }
) {
  const sql = yield* SqlClient.SqlClient
  const [existing] = yield* Effect.orDie(Existing.rows(sql)`SELECT m.status FROM memberships m
    JOIN users u ON u.subject = m.subject
    WHERE m.workspace_id = ${workspaceId} AND (u.email = ${person.email} OR u.subject = ${person.subject})`)
  if (existing?.status === "unconfirmed") return yield* unconfirmedMember()
  if (existing?.status === "active") return yield* alreadyMember()
})
