import { Context, Duration, Effect, Layer, Redacted, References } from "effect"
import { SqlClient } from "effect/sql"
import { AccessTokens } from "../../../../actors/access/account/AccessTokens.ts"
import { Sessions } from "../../../../actors/access/account/Sessions.ts"
import { serviceContext } from "../../../../schema/commands/Command.ts"
import { Authorizations } from "../../../../actors/access/issuer/Authorizations.ts"
import { IssuerSettings } from "../../../../actors/access/issuer/IssuerSettings.ts"
import { noClaims } from "../../../../actors/access/issuer/RequestedClaims.ts"
import { StaticClients } from "../../../../actors/access/issuer/StaticClients.ts"
import { TokenInspection } from "../../../../actors/access/issuer/TokenInspection.ts"
import { TokenService } from "../../../../actors/access/issuer/TokenService.ts"
import { oidcServices } from "../../../../src/accounts/oidc/OidcServices.ts"
import type { WorkspaceId } from "../../../../schema/records/Ids.ts"
import { seed, world } from "./World.ts"

const at = "2026-01-01T00:00:00.000Z"
const times = { created_at: at, updated_at: at }

/** People in addition to those in the test data: one per role in Workspace A, and an operator without a Workspace. */
const extras = {
  admin: `usr_${"d".repeat(24)}`,
  member: `usr_${"m".repeat(24)}`,
  operator: `usr_${"o".repeat(24)}`,
  locked: `usr_${"l".repeat(24)}`
}

const seedExtras = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const [name, subject] of Object.entries(extras)) {
    yield* sql`INSERT INTO users ${sql.insert({ subject, email: `${name}@example.test`, display_name: null, is_operator: name === "operator" ? 1 : 0, status: name === "locked" ? "disabled" : "active", ...times })}`
    if (name === "operator") continue
    const role = name === "locked" ? "owner" : name
    yield* sql`INSERT INTO memberships ${sql.insert({ id: `mbr_${name.padEnd(24, "x")}`, workspace_id: world.workspaceA, subject, role, status: "active", ...times })}`
  }
})

/** The URL of the issuer in the authorisation matrix. */
const issuer = "http://svc.example.test"
const resource = "https://api.example.com"
const callback = "https://rp.example.com/cb"

const clients = StaticClients.layer({
  clients: [
    {
      client_id: "matrix",
      client_name: "Matrix",
      client_secret: Redacted.make("a-client-secret-of-at-least-32-characters"),
      redirect_uris: [callback],
      pkce: "optional",
      scope: "openid profile offline_access read write api.use",
      resources: [resource]
    }
  ],
  resource_servers: [{ resource, scopes: ["api.use"] }]
})

/** The issuer of the tokens in the matrix. It uses the accounts of the matrix. */
export const matrixIssuer = oidcServices.pipe(
  Layer.provideMerge(clients),
  Layer.provideMerge(Layer.succeed(IssuerSettings, { issuer, refreshReuseGrace: Duration.zero })),
  // The operator allows this client to omit PKCE, and the client omits it.
  Layer.provide(Layer.succeed(References.MinimumLogLevel, "None"))
)

/** Requests the tokens that the issuer grants to a client after a person consents. */
export const granted = Effect.fnUntraced(function* (
  subject: string,
  scopes: ReadonlyArray<string>,
  options: { readonly workspaceId?: WorkspaceId; readonly resource?: string } = {}
) {
  const sessions = yield* Sessions
  const authorizations = yield* Authorizations
  const tokens = yield* TokenService
  const client = (yield* StaticClients).clients.get("matrix") ?? (yield* Effect.die("no client"))
  const { session } = yield* sessions.open({ subject, method: "password" })
  const code = yield* authorizations.authorize({
    client,
    decider: { subject, sessionId: session.id, authTime: 0 },
    grant: { scopes, claims: noClaims, workspaceId: options.workspaceId, resource: options.resource },
    code: { redirectUri: callback, codeChallenge: undefined, nonce: undefined },
    requestId: "req_matrix"
  })
  const issued = yield* tokens.exchangeCode(
    client,
    { code, redirectUri: callback, verifier: undefined },
    options.resource
  )
  return { ...issued, client, sessionId: session.id }
})

type Credential = Readonly<Record<string, string>>

const cookie = (secret: Redacted.Redacted): Credential => ({
  cookie: `svc_session=${Redacted.value(secret)}`,
  "sec-fetch-site": "same-origin"
})
const bearer = (secret: Redacted.Redacted | string): Credential => ({
  authorization: `Bearer ${typeof secret === "string" ? secret : Redacted.value(secret)}`
})

/** Returns headers for every kind of caller, by name, using real accounts. */
export class Principals extends Context.Service<Principals, ReadonlyMap<string, Credential>>()("test/http/Principals") {
  static readonly layer = Layer.effect(
    Principals,
    Effect.gen(function* () {
      yield* seed
      yield* seedExtras
      const sql = yield* SqlClient.SqlClient
      const sessions = yield* Sessions
      const tokens = yield* AccessTokens
      const session = (subject: string, workspaceId?: WorkspaceId) =>
        Effect.map(sessions.open({ subject, method: "password", workspaceId }), ({ secret }) => cookie(secret))
      const token = Effect.fnUntraced(function* (
        subject: string,
        scopes: ReadonlyArray<string>,
        workspaceId?: WorkspaceId
      ) {
        const { secret, token } = yield* tokens.create(serviceContext, subject, {
          name: "matrix",
          scopes,
          workspaceId
        })
        return { headers: bearer(secret), id: token.token_id }
      })
      const all = ["read", "write"]
      const expired = yield* token(world.ada, all)
      yield* sql`UPDATE access_tokens SET expires_at = ${at} WHERE token_id = ${expired.id}`
      const revoked = yield* token(world.ada, all)
      yield* tokens.revoke(serviceContext, world.ada, revoked.id)
      const ended = yield* sessions.open({ subject: world.ada, method: "password" })
      yield* sessions.revoke(world.ada, ended.session.id)
      yield* sql`UPDATE memberships SET status = 'active' WHERE subject = ${world.suspended}`
      const suspendedToken = yield* token(world.suspended, all, world.workspaceA)
      const suspendedOAuth = yield* granted(world.suspended, all, { workspaceId: world.workspaceA })
      yield* sql`UPDATE memberships SET status = 'suspended' WHERE subject = ${world.suspended}`
      const inspection = yield* TokenInspection
      const full = yield* granted(world.ada, ["openid", "offline_access", ...all])
      const revokedOAuth = yield* granted(world.ada, all)
      yield* inspection.revoke(revokedOAuth.client, revokedOAuth.accessToken)
      const leftOAuth = yield* granted(world.ada, all)
      yield* sessions.revoke(world.ada, leftOAuth.sessionId)
      const forServer = yield* granted(world.ada, ["openid", "api.use", ...all], { resource })
      const owner = yield* session(world.ada)
      const unseen = yield* sessions.open({ subject: world.ada, method: "password" })
      yield* sql`UPDATE account_sessions SET confirmed_at = ${at} WHERE id = ${unseen.session.id}`
      return new Map<string, Credential>([
        ["nobody", {}],
        ["malformed credential", { authorization: "Basic YWRhOmFkYQ==" }],
        ["two credentials", { ...owner, "x-svc-account-session": "svcs_second" }],
        ["unknown token", bearer(`svcp_${"0".repeat(36)}`)],
        ["expired token", expired.headers],
        ["revoked token", revoked.headers],
        ["ended session", cookie(ended.secret)],
        ["locked account", yield* session(extras.locked)],
        ["owner", owner],
        ["owner not seen for long", cookie(unseen.secret)],
        ["admin", yield* session(extras.admin)],
        ["member", yield* session(extras.member)],
        ["viewer", yield* session(world.viewer)],
        ["suspended member", yield* session(world.suspended)],
        ["stranger", yield* session(world.bob)],
        ["operator", yield* session(extras.operator)],
        ["session confined to A", yield* session(world.ada, world.workspaceA)],
        ["token", (yield* token(world.ada, all)).headers],
        ["read-only token", (yield* token(world.ada, ["read"])).headers],
        ["write-only token", (yield* token(world.ada, ["write"])).headers],
        ["token for A", (yield* token(world.ada, all, world.workspaceA)).headers],
        ["token for B", (yield* token(world.ada, all, world.workspaceB)).headers],
        ["suspended token for A", suspendedToken.headers],
        ["viewer's token", (yield* token(world.viewer, all)).headers],
        ["OAuth token", bearer(full.accessToken)],
        ["OAuth read token", bearer((yield* granted(world.ada, ["read"])).accessToken)],
        ["OAuth identity token", bearer((yield* granted(world.ada, ["openid", "profile"])).accessToken)],
        ["OAuth token for A", bearer((yield* granted(world.ada, all, { workspaceId: world.workspaceA })).accessToken)],
        ["OAuth token for B", bearer((yield* granted(world.bob, all, { workspaceId: world.workspaceB })).accessToken)],
        ["viewer's OAuth token", bearer((yield* granted(world.viewer, all)).accessToken)],
        ["suspended OAuth for A", bearer(suspendedOAuth.accessToken)],
        ["revoked OAuth token", bearer(revokedOAuth.accessToken)],
        ["signed-out OAuth token", bearer(leftOAuth.accessToken)],
        ["token for a server", bearer(forServer.accessToken)],
        ["ID token", bearer(full.idToken ?? "")],
        ["refresh token", bearer(full.refreshToken ?? "")]
      ])
    })
  )
}
