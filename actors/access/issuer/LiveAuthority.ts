import { Effect, Option, Result, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Role } from "../../../schema/records/Workspace.ts"
import { activationDigest, type CapsuleAuthority, isServing, readCapsuleAuthority } from "./CapsuleActivation.ts"
import type { Client } from "./Client.ts"
import { isEnded } from "../../../schema/records/CapsuleLifecycle.ts"
import { MembershipRow } from "../../ledger/workspace/MembershipRow.ts"
import { Flag, type RowOf, rowShape } from "../../base/database/Table.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type CapsuleId, Subject, type WorkspaceId } from "../../../schema/records/Ids.ts"

// Declares only the columns that are needed here, because this folder must not import from the account folder, which imports
// from this one.
const Person = rowShape({
  subject: Subject,
  email: Schema.String,
  display_name: Schema.NullOr(Schema.String),
  /** True if the upstream provider has reported this exact address as verified. */
  email_verified: Flag,
  updated_at: Timestamp
})
export type Person = RowOf<typeof Person.columns>

/** Conditions on which a grant depends. Every use of the grant checks them. */
export interface LiveAuthority {
  readonly person: Person
  readonly workspace: { readonly id: string; readonly role: Role } | undefined
  readonly capsuleId: CapsuleId | undefined
}

/**
 * The reason why authority is missing. If `lasting` is true, grants based on the authority must be revoked; otherwise, a
 * later apply may restore the authority.
 */
export interface Denial {
  readonly reason: "account" | "membership" | "foreign_workspace" | "capsule_stale" | "capsule_gone"
  readonly lasting: boolean
}

const denied = (reason: Denial["reason"], lasting: boolean) => Result.fail<Denial>({ reason, lasting })

/**
 * Returns the reason why a Capsule's client has no authority in the Capsule's current state, or `undefined` if the client
 * has authority.
 */
export const capsuleDenial = (
  owner: NonNullable<Client["owner"]>,
  authority: CapsuleAuthority | undefined
): Denial | undefined => {
  if (authority === undefined || isEnded(authority.status) || authority.workspace_id !== owner.workspaceId) {
    return { reason: "capsule_gone", lasting: true }
  }
  const current = isServing(authority) && owner.activationDigest === activationDigest(authority)
  return current ? undefined : { reason: "capsule_stale", lasting: false }
}

/**
 * Returns the reason why a client has no authority now, regardless of the person using it. Returns `undefined` if the client
 * has authority or needs none.
 */
export const clientDenial = Effect.fn("clientDenial")(function* (
  sql: SqlClient.SqlClient,
  { owner, scopes }: Pick<Client, "owner" | "scopes">
): Effect.fn.Return<Denial | undefined, SqlError> {
  if (owner === undefined) return undefined
  // The operator no longer allows Capsules to have an identity. The denial is not lasting, because the operator may allow
  // identities again.
  if (!scopes.includes("openid")) return { reason: "capsule_stale", lasting: false }
  return capsuleDenial(owner, yield* readCapsuleAuthority(sql, owner.capsuleId))
})

/**
 * Checks through `sql` whether a person may currently act through a client in the grant's Workspace. Requires an active
 * account, an active membership and, for a Capsule's client, that the client's activation digest matches the Capsule. Fails
 * if the database fails, so that a failure is never treated as a decision.
 */
export const liveAuthority = Effect.fn("liveAuthority")(function* (
  sql: SqlClient.SqlClient,
  client: Client,
  subject: string,
  workspaceId: WorkspaceId | undefined
): Effect.fn.Return<Result.Result<LiveAuthority, Denial>, SqlError> {
  const [person] = yield* Person.rows(sql)`SELECT u.subject, u.email, u.display_name, u.updated_at,
      CASE WHEN EXISTS (SELECT 1 FROM upstream_identities i WHERE i.subject = u.subject AND i.verified_email = u.email)
        THEN 1 ELSE 0 END AS email_verified
    FROM users u WHERE u.subject = ${subject} AND u.status = 'active'`
  if (person === undefined) return denied("account", true)
  const { owner } = client
  if (owner !== undefined && workspaceId !== owner.workspaceId) return denied("foreign_workspace", true)
  const denial = yield* clientDenial(sql, client)
  if (denial !== undefined) return Result.fail(denial)
  if (workspaceId === undefined) return Result.succeed({ person, workspace: undefined, capsuleId: undefined })
  const [membership] = yield* MembershipRow.some(sql, "role")`SELECT role FROM memberships
    WHERE workspace_id = ${workspaceId} AND subject = ${subject} AND status = 'active'`
  if (membership === undefined) return denied("membership", true)
  return Result.succeed({
    person,
    workspace: { id: workspaceId, role: membership.role },
    capsuleId: Option.getOrUndefined(Option.map(Option.fromUndefinedOr(owner), ({ capsuleId }) => capsuleId))
  })
})

/** Returns all Workspaces in which the person is an active member. */
export const activeMemberships = (sql: SqlClient.SqlClient, subject: string) =>
  Effect.map(
    MembershipRow.some(sql, "workspace_id")`SELECT workspace_id FROM memberships
      WHERE subject = ${subject} AND status = 'active' ORDER BY workspace_id`,
    (rows) => rows.map((row) => row.workspace_id)
  )
