import { Context, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { newId, now } from "../../base/Identity.ts"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import { decodeClaims, encodeClaims, type RequestedClaims } from "./RequestedClaims.ts"
import { decodeScopes, encodeScopes } from "./Scopes.ts"
import { GrantRow } from "./GrantRow.ts"

/** The fields of a new grant: one person's consent to one client. */
export interface NewGrant {
  readonly clientId: string
  readonly subject: string
  /** The browser session in which the person consented. */
  readonly sessionId: string | undefined
  readonly workspaceId: WorkspaceId | undefined
  readonly scopes: ReadonlyArray<string>
  readonly claims: RequestedClaims
  readonly resource: string | undefined
  /** The redirect URI to which the code was sent; `undefined` for a device. */
  readonly redirectUri: string | undefined
  /** Time at which the person last authenticated, in seconds since the Unix epoch. */
  readonly authTime: number
}

export interface Grant extends NewGrant {
  readonly id: string
  readonly createdAt: string
}

export type RevocationReason =
  | "code_reused"
  | "refresh_reused"
  | "revoked_by_client"
  | "revoked_by_person"
  | "signed_out"
  | "authority_ended"
  | "client_retired"
  | "redirect_removed"
  | "account"
  | "restored"

const toGrant = (row: GrantRow): Grant => ({
  id: row.id,
  clientId: row.client_id,
  subject: row.subject,
  sessionId: row.session_id ?? undefined,
  workspaceId: row.workspace_id ?? undefined,
  scopes: decodeScopes(row.scopes),
  claims: decodeClaims(row.claims),
  resource: row.resource ?? undefined,
  redirectUri: row.redirect_uri ?? undefined,
  authTime: row.auth_time,
  createdAt: row.created_at
})

/** The only writer of grants. Every method works in the caller's transaction. */
export class Grants extends Context.Service<
  Grants,
  {
    readonly insert: (grant: NewGrant) => Effect.Effect<Grant, SqlError>
    /** Reads the grant through `sql`. Ignores revoked grants. */
    readonly findLive: (sql: SqlClient.SqlClient, grantId: string) => Effect.Effect<Grant | undefined, SqlError>
    /** Revokes the grant, and every token and code issued for it. Repeating the call changes nothing. */
    readonly revoke: (grantId: string, reason: RevocationReason) => Effect.Effect<void, SqlError>
    /** Revokes all grants to a client. Returns the number of revoked grants. */
    readonly revokeClient: (clientId: string) => Effect.Effect<number, SqlError>
    /**
     * Revokes those grants of a client that used the redirect URI that is being removed. The URI of an old grant may be
     * unknown (`undefined`).
     */
    readonly revokeRedirects: (
      clientId: string,
      stays: (redirectUri: string | undefined) => boolean
    ) => Effect.Effect<number, SqlError>
    /** Revokes all grants of a person, for example after their password was stolen. */
    readonly revokeSubject: (subject: string) => Effect.Effect<void, SqlError>
    /**
     * Ends a browser session, and revokes the session's grants unless they were meant to outlive it. Grants with
     * `offline_access` remain until they are revoked (OpenID Connect Back-Channel Logout 1.0, section 2.7).
     */
    readonly endSession: (sessionId: string) => Effect.Effect<void, SqlError>
    /** Moves the grants of an old session to a new session when the same person signs in again in the same browser. */
    readonly continueSession: (sessionId: string, by: string) => Effect.Effect<void, SqlError>
  }
>()("svc/actors/access/issuer/Grants") {
  static readonly layer = Layer.effect(
    Grants,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const withRandom = Effect.provideService(SecureRandom.SecureRandom, yield* SecureRandom.SecureRandom)

      const revoke = Effect.fn("Grants.revoke")(function* (grantId: string, reason: RevocationReason) {
        const at = yield* now
        yield* sql`UPDATE oidc_grants SET revoked_at = ${at}, revoked_reason = ${reason}
          WHERE id = ${grantId} AND revoked_at IS NULL`
        yield* sql`UPDATE oauth_access_tokens SET revoked_at = ${at} WHERE grant_id = ${grantId} AND revoked_at IS NULL`
        yield* sql`DELETE FROM oidc_refresh_tokens WHERE grant_id = ${grantId} AND used_at IS NULL`
      })

      const revokeEach = (rows: ReadonlyArray<{ readonly id: string }>, reason: RevocationReason) =>
        Effect.forEach(rows, ({ id }) => revoke(id, reason), { discard: true })

      return Grants.of({
        insert: Effect.fn("Grants.insert")(function* (grant) {
          const id = yield* newId(Schema.String, "grt").pipe(withRandom)
          const createdAt = yield* now
          yield* sql`INSERT INTO oidc_grants ${GrantRow.values(sql, {
            id,
            client_id: grant.clientId,
            subject: grant.subject,
            session_id: grant.sessionId ?? null,
            workspace_id: grant.workspaceId ?? null,
            scopes: encodeScopes(grant.scopes),
            claims: encodeClaims(grant.claims),
            resource: grant.resource ?? null,
            redirect_uri: grant.redirectUri ?? null,
            auth_time: grant.authTime,
            created_at: createdAt,
            revoked_at: null,
            revoked_reason: null
          })}`
          return { ...grant, id, createdAt }
        }),
        findLive: Effect.fn("Grants.findLive")(function* (client, grantId) {
          const [row] = yield* GrantRow.rows(client)`SELECT * FROM oidc_grants
            WHERE id = ${grantId} AND revoked_at IS NULL`
          return row === undefined ? undefined : toGrant(row)
        }),
        revoke,
        revokeClient: Effect.fn("Grants.revokeClient")(function* (clientId) {
          const rows = yield* GrantRow.some(sql, "id")`SELECT id FROM oidc_grants
            WHERE client_id = ${clientId} AND revoked_at IS NULL`
          yield* revokeEach(rows, "client_retired")
          return rows.length
        }),
        revokeRedirects: Effect.fn("Grants.revokeRedirects")(function* (clientId, stays) {
          const rows = yield* GrantRow.some(sql, "id", "redirect_uri")`SELECT id, redirect_uri FROM oidc_grants
            WHERE client_id = ${clientId} AND revoked_at IS NULL`
          const ended = rows.filter(({ redirect_uri }) => !stays(redirect_uri ?? undefined))
          yield* revokeEach(ended, "redirect_removed")
          return ended.length
        }),
        revokeSubject: Effect.fn("Grants.revokeSubject")(function* (subject) {
          const rows = yield* GrantRow.some(sql, "id")`SELECT id FROM oidc_grants
            WHERE subject = ${subject} AND revoked_at IS NULL`
          yield* revokeEach(rows, "account")
        }),
        endSession: Effect.fn("Grants.endSession")(function* (sessionId) {
          const rows = yield* GrantRow.some(sql, "id", "scopes")`SELECT id, scopes FROM oidc_grants
            WHERE session_id = ${sessionId} AND revoked_at IS NULL`
          const bound = rows.filter(({ scopes }) => !decodeScopes(scopes).includes("offline_access"))
          yield* revokeEach(bound, "signed_out")
        }),
        continueSession: Effect.fn("Grants.continueSession")(function* (sessionId, by) {
          yield* sql`UPDATE oidc_grants SET session_id = ${by} WHERE session_id = ${sessionId} AND revoked_at IS NULL`
        })
      })
    })
  )
}
