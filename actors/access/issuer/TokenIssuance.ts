import { Clock, Context, DateTime, Duration, Effect, Layer, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { mintSecret, secretHash } from "../../base/credential/BearerSecret.ts"
import { newId } from "../../base/Identity.ts"
import type { Client } from "./Client.ts"
import type { Grant } from "./Grants.ts"
import { interfacePermissions } from "./InterfacePermissions.ts"
import { IssuerSettings } from "./IssuerSettings.ts"
import { lifetimes } from "./Lifetimes.ts"
import type { LiveAuthority } from "./LiveAuthority.ts"
import { type OAuthError, refuse } from "./OAuthError.ts"
import { encodeScopes } from "./Scopes.ts"
import { namedClaims } from "./RequestedClaims.ts"
import { SigningKeys } from "./SigningKeys.ts"
import { StaticClients } from "./StaticClients.ts"
import { idTokenClaims, svcClaim } from "./TokenClaims.ts"
import { OAuthTokenRow } from "./GrantRow.ts"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import { rowShape } from "../../base/database/Table.ts"
import { MembershipRow } from "../../ledger/workspace/MembershipRow.ts"
import { StoredWorkspace } from "../../ledger/workspace/StoredWorkspace.ts"

const GroupRow = rowShape({
  handle: StoredWorkspace.columns.handle,
  role: MembershipRow.columns.role,
  team: Schema.NullOr(Schema.String)
})

/**
 * Returns a person's groups for applications: `<handle of the Workspace>:<role>` for every active membership, and
 * `<handle>:team:<name>` for each of the person's teams in that Workspace. For a grant bound to a Workspace, returns only
 * the groups in that Workspace.
 */
export const groupsOf = Effect.fn("groupsOf")(function* (
  sql: SqlClient.SqlClient,
  subject: string,
  workspaceId: WorkspaceId | undefined
): Effect.fn.Return<ReadonlyArray<string>, SqlError> {
  const rows = yield* GroupRow.rows(sql)`SELECT w.handle, m.role, t.name AS team
    FROM memberships m JOIN workspaces w ON w.id = m.workspace_id
    LEFT JOIN teams t ON t.workspace_id = m.workspace_id
      AND t.id IN (SELECT tm.team_id FROM team_members tm WHERE tm.subject = m.subject)
    WHERE m.subject = ${subject} AND m.status = 'active' AND ${
      workspaceId === undefined ? sql.literal("1 = 1") : sql`m.workspace_id = ${workspaceId}`
    } ORDER BY w.handle, t.name`
  const groups = rows.flatMap(({ handle, role, team }) => [
    `${handle}:${role}`,
    ...(team === null ? [] : [`${handle}:team:${team}`])
  ])
  return [...new Set(groups)]
})

/** The content of the token endpoint's response. The HTTP layer encodes it. */
export interface IssuedTokens {
  readonly accessToken: Redacted.Redacted
  readonly expiresIn: number
  readonly scopes: ReadonlyArray<string>
  readonly idToken: string | undefined
  readonly refreshToken: Redacted.Redacted | undefined
}

export interface IssuanceRequest {
  readonly client: Client
  readonly grant: Grant
  readonly authority: LiveAuthority
  /** The requested scopes that are registered for the client. */
  readonly scopes: ReadonlyArray<string>
  /**
   * All scopes that were both requested and granted, including permissions for an Interface, which are not client scopes.
   */
  readonly asked: ReadonlyArray<string>
  /** Set if the token is for another resource server. */
  readonly resource: string | undefined
  readonly nonce: string | undefined
  readonly refreshToken: Redacted.Redacted | undefined
}

const notCovered = refuse("invalid_target", "The grant does not cover this resource, or does not any more.")

/** Creates the `jti` of a resource token. It contains the grant's id, so that introspection can check the grant. */
export const resourceTokenId = (grantId: string, unique: string): string => `${grantId}.${unique}`
export const grantIdOf = (tokenId: string): string => tokenId.split(".")[0] ?? ""

/** Creates access and ID tokens for a grant whose authority has just been checked, in the caller's transaction. */
export class TokenIssuance extends Context.Service<
  TokenIssuance,
  {
    /**
     * Fails with `invalid_target` if the grant does not include the resource, or if no server provides the resource any
     * more.
     */
    readonly issue: (request: IssuanceRequest) => Effect.Effect<IssuedTokens, OAuthError | SqlError>
  }
>()("svc/actors/access/issuer/TokenIssuance") {
  static readonly layer = Layer.effect(
    TokenIssuance,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const keys = yield* SigningKeys
      const { issuer } = yield* IssuerSettings
      const registered = yield* StaticClients
      const withRandom = Effect.provideService(SecureRandom.SecureRandom, yield* SecureRandom.SecureRandom)

      const opaque = Effect.fnUntraced(function* ({ client, grant, scopes }: IssuanceRequest) {
        const secret = yield* withRandom(mintSecret("oauthAccess"))
        const at = yield* DateTime.now
        yield* sql`INSERT INTO oauth_access_tokens ${OAuthTokenRow.values(sql, {
          id: yield* withRandom(newId(Schema.String, "oat")),
          secret_hash: secretHash(secret),
          subject: grant.subject,
          client_id: client.id,
          grant_id: grant.id,
          scopes: encodeScopes(scopes),
          workspace_id: grant.workspaceId ?? null,
          created_at: DateTime.formatIso(at),
          expires_at: DateTime.formatIso(DateTime.addDuration(at, lifetimes.accessToken)),
          revoked_at: null
        })}`
        return { accessToken: secret, expiresIn: Duration.toSeconds(lifetimes.accessToken), scopes }
      })

      const scopesAtServer = Effect.fnUntraced(function* ({ client, scopes }: IssuanceRequest, resource: string) {
        const server = registered.resourceServers.get(resource)
        if (server === undefined || !client.resources.includes(resource)) return yield* notCovered
        return scopes.filter((scope) => server.scopes.includes(scope))
      })

      /** Reads the permissions for every token, because they may have changed since the consent. */
      const scopesAtInterface = Effect.fnUntraced(function* (request: IssuanceRequest, resource: string) {
        const { asked, client, grant } = request
        const permissions = yield* interfacePermissions(sql, { ...grant, client, resource })
        const scopes = asked.filter((scope) => permissions.includes(scope))
        return scopes.length === 0 ? yield* notCovered : scopes
      })

      /** Creates an access token for one resource server, with only that server's scopes (RFC 9068). */
      const forResource = Effect.fnUntraced(function* (request: IssuanceRequest, resource: string) {
        const { authority, client, grant } = request
        if (grant.resource !== resource) return yield* notCovered
        const scopes = yield* registered.resourceServers.has(resource)
          ? scopesAtServer(request, resource)
          : scopesAtInterface(request, resource)
        const issuedAt = Math.floor((yield* Clock.currentTimeMillis) / 1000)
        const expiresIn = Duration.toSeconds(lifetimes.resourceToken)
        const jwt = yield* keys.sign("RS256", "at+jwt", {
          iss: issuer,
          sub: grant.subject,
          aud: resource,
          client_id: client.id,
          scope: scopes.join(" "),
          iat: issuedAt,
          exp: issuedAt + expiresIn,
          jti: resourceTokenId(grant.id, yield* withRandom(newId(Schema.String, "rst"))),
          auth_time: grant.authTime,
          ...svcClaim(authority)
        })
        return { accessToken: Redacted.make(jwt), expiresIn, scopes }
      })

      return TokenIssuance.of({
        issue: Effect.fn("TokenIssuance.issue")(function* (request) {
          const { authority, client, grant, nonce, refreshToken, resource } = request
          const access = yield* resource === undefined ? opaque(request) : forResource(request, resource)
          const issuedAt = Math.floor((yield* Clock.currentTimeMillis) / 1000)
          if (!request.scopes.includes("openid")) return { ...access, idToken: undefined, refreshToken }
          const names = namedClaims(request.scopes, grant.claims.idToken)
          const idToken = yield* keys.sign(
            client.idTokenAlgorithm,
            undefined,
            idTokenClaims({
              issuer,
              grant,
              authority,
              names,
              groups: names.includes("groups") ? yield* groupsOf(sql, grant.subject, grant.workspaceId) : [],
              accessToken: Redacted.value(access.accessToken),
              nonce,
              issuedAt,
              expiresAt: issuedAt + Duration.toSeconds(lifetimes.idToken)
            })
          )
          return { ...access, idToken, refreshToken }
        })
      })
    })
  )
}
