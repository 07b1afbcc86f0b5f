import { Context, DateTime, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { retention } from "../../../schema/records/Retention.ts"
import { ConnectionUse } from "../../../schema/records/ConnectionUse.ts"
import { ConnectionId, Subject, WorkspaceId } from "../../../schema/records/Ids.ts"
import { isWellFormed, mintSecret, secretHash } from "../../base/credential/BearerSecret.ts"
import { now } from "../../base/Identity.ts"
import { Vault } from "../../base/vault/Vault.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** Pending authorizations: the person has not returned from the authorization server yet. */
export const ConnectionAuthorizationRow = table("connection_authorizations", {
  state_hash: Schema.String,
  workspace_id: WorkspaceId,
  connection_id: ConnectionId,
  helper_id: Schema.String,
  issuer: Schema.String,
  redirect_uri: Schema.String,
  subject: Subject,
  session_id: Schema.String,
  draft: Schema.String,
  sealed_verifier: Schema.String,
  expires_at: Timestamp
})
export type ConnectionAuthorizationRow = RowOf<typeof ConnectionAuthorizationRow.columns>

const validFor = retention.connectionAuthorization.after

/** Purpose of the authorization: to create a Connection, or to get new tokens for an existing one. */
export const ConnectionDraft = Schema.Struct({
  renews: Schema.Boolean,
  displayName: Schema.String,
  use: Schema.optionalKey(ConnectionUse),
  /** The organization that will own a new GitHub App. */
  organization: Schema.optionalKey(Schema.String),
  expiresAt: Schema.optionalKey(Schema.String)
})
export type ConnectionDraft = typeof ConnectionDraft.Type

/** The person, session and purpose of an authorization. All must match when the browser returns. */
export interface BegunAuthorization {
  readonly workspaceId: WorkspaceId
  readonly connectionId: ConnectionId
  readonly helperId: string
  readonly issuer: string
  readonly redirectUri: string
  readonly subject: string
  readonly sessionId: string
  readonly draft: ConnectionDraft
}

export interface OpenAuthorization extends BegunAuthorization {
  readonly state: Redacted.Redacted
  readonly codeVerifier: Redacted.Redacted
}

const DraftJson = Schema.fromJsonString(ConnectionDraft)
const encodeDraft = Schema.encodeSync(DraftJson)
const decodeDraft = Schema.decodeUnknownSync(DraftJson)

/** Reads a stored draft. */
export const draftOf = ({ draft }: Pick<ConnectionAuthorizationRow, "draft">): ConnectionDraft => decodeDraft(draft)

const place = (workspaceId: WorkspaceId, stateHash: string) => ({
  table: "connection_authorizations",
  column: "sealed_verifier",
  workspaceId,
  rowId: stateHash
})

/** Returns the state parameter of the response, or `undefined` if there is not exactly one or it is malformed. */
export const stateOf = (search: string): Redacted.Redacted | undefined => {
  const [state, ...others] = new URLSearchParams(search).getAll("state")
  return state === undefined || others.length > 0 || !isWellFormed("oauthState", state)
    ? undefined
    : Redacted.make(state)
}

/**
 * Pending authorizations at other servers. The browser carries the state parameter; svc stores only its digest and the sealed
 * PKCE verifier. The only writer of `connection_authorizations`.
 */
export class ConnectionAuthorizations extends Context.Service<
  ConnectionAuthorizations,
  {
    /** Creates a state parameter and a verifier. Writes nothing. */
    readonly proof: Effect.Effect<Pick<OpenAuthorization, "state" | "codeVerifier">>
    /** Starts an authorization that is valid for ten minutes and for a single response. Returns its expiry. */
    readonly begin: (authorization: OpenAuthorization) => Effect.Effect<string>
    /** Finds an authorization that is still waiting for its response. */
    readonly find: (state: Redacted.Redacted) => Effect.Effect<Option.Option<OpenAuthorization>>
    /** Uses up the authorization. Returns `false` if it has already been used. */
    readonly spend: (state: Redacted.Redacted) => Effect.Effect<boolean>
  }
>()("svc/actors/inputs/connection/ConnectionAuthorizations") {
  static readonly layer = Layer.effect(
    ConnectionAuthorizations,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const vault = yield* Vault
      const random = yield* SecureRandom.SecureRandom
      return ConnectionAuthorizations.of({
        proof: Effect.gen(function* () {
          const verifier = Buffer.from(yield* random.randomBytes(32)).toString("base64url")
          return { state: yield* mintSecret("oauthState"), codeVerifier: Redacted.make(verifier) }
        }).pipe(Effect.provideService(SecureRandom.SecureRandom, random)),
        begin: Effect.fn("ConnectionAuthorizations.begin")(function* (authorization) {
          const at = yield* DateTime.now
          const stateHash = secretHash(authorization.state)
          const expiresAt = DateTime.formatIso(DateTime.addDuration(at, validFor))
          yield* sql`DELETE FROM connection_authorizations WHERE expires_at <= ${DateTime.formatIso(at)}`
          yield* sql`INSERT INTO connection_authorizations ${ConnectionAuthorizationRow.values(sql, {
            state_hash: stateHash,
            workspace_id: authorization.workspaceId,
            connection_id: authorization.connectionId,
            helper_id: authorization.helperId,
            issuer: authorization.issuer,
            redirect_uri: authorization.redirectUri,
            subject: authorization.subject,
            session_id: authorization.sessionId,
            draft: encodeDraft(authorization.draft),
            sealed_verifier: yield* vault.seal(place(authorization.workspaceId, stateHash), authorization.codeVerifier),
            expires_at: expiresAt
          })}`
          return expiresAt
        }, Effect.orDie),
        find: Effect.fn("ConnectionAuthorizations.find")(function* (state) {
          const [row] = yield* ConnectionAuthorizationRow.rows(sql)`SELECT * FROM connection_authorizations
            WHERE state_hash = ${secretHash(state)} AND expires_at > ${yield* now}`
          if (row === undefined) return Option.none()
          const codeVerifier = yield* vault.openText(place(row.workspace_id, row.state_hash), row.sealed_verifier)
          return Option.some({
            workspaceId: row.workspace_id,
            connectionId: row.connection_id,
            helperId: row.helper_id,
            issuer: row.issuer,
            redirectUri: row.redirect_uri,
            subject: row.subject,
            sessionId: row.session_id,
            draft: draftOf(row),
            state,
            codeVerifier
          })
        }, Effect.orDie),
        spend: Effect.fnUntraced(function* (state) {
          const spent = yield* sql`DELETE FROM connection_authorizations WHERE state_hash = ${secretHash(state)}
            AND expires_at > ${yield* now} RETURNING state_hash`
          return spent.length === 1
        }, Effect.orDie)
      })
    })
  )
}
