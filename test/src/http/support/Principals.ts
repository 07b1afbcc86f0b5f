import { Context, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { AccessTokens } from "../../../../actors/account/AccessTokens.ts"
import { Accounts } from "../../../../actors/account/Accounts.ts"
import type { Principal } from "../../../../actors/account/Principal.ts"
import { Sessions } from "../../../../actors/account/Sessions.ts"
import { serviceContext } from "../../../../actors/Command.ts"
import { WorkspaceId } from "../../../../schema/records/Ids.ts"
import { Authenticator } from "../../../../src/http/authorization/Authenticator.ts"
import { seed, world } from "./World.ts"

const at = "2026-01-01T00:00:00.000Z"
const times = { created_at: at, updated_at: at }

/** People beside those of the world: one a role in Workspace A, and an operator who belongs to none. */
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

const oauth = (scopes: ReadonlyArray<string>, bound?: string): Principal => ({
  credential: "oauth",
  credentialId: "at_test",
  subject: world.ada,
  scopes,
  ...(bound === undefined ? {} : { boundWorkspaceId: WorkspaceId.make(bound) })
})

// The issuer has tests of its own; here it only matters what its tokens may do.
const oauthTokens = new Map<string, Principal>([
  ["oauth-full", oauth(["openid", "read", "write"])],
  ["oauth-read", oauth(["read"])],
  ["oauth-identity", oauth(["openid", "profile"])],
  ["oauth-for-a", oauth(["read", "write"], world.workspaceA)]
])

/** The real authenticator, with OAuth tokens of the test's own. */
export const realAuthenticator = Layer.effect(
  Authenticator,
  Effect.map(Accounts, (accounts) =>
    Authenticator.of({
      bearer: (token) => {
        const known = oauthTokens.get(Redacted.value(token))
        return known === undefined ? accounts.authenticateBearer(token) : Effect.succeed(known)
      },
      session: accounts.authenticateSession
    })
  )
)

type Credential = Readonly<Record<string, string>>

const cookie = (secret: Redacted.Redacted): Credential => ({
  cookie: `svc_session=${Redacted.value(secret)}`,
  "sec-fetch-site": "same-origin"
})
const bearer = (secret: Redacted.Redacted | string): Credential => ({
  authorization: `Bearer ${typeof secret === "string" ? secret : Redacted.value(secret)}`
})

/** Headers of every kind of caller, by name, over real accounts. */
export class Principals extends Context.Service<Principals, ReadonlyMap<string, Credential>>()("test/http/Principals") {
  static readonly layer = Layer.effect(
    Principals,
    Effect.gen(function* () {
      yield* seed
      yield* seedExtras
      const sql = yield* SqlClient.SqlClient
      const sessions = yield* Sessions
      const tokens = yield* AccessTokens
      const session = (subject: string, workspaceId?: string) =>
        Effect.map(sessions.open({ subject, method: "password", workspaceId }), ({ secret }) => cookie(secret))
      const token = Effect.fnUntraced(function* (subject: string, scopes: ReadonlyArray<string>, workspaceId?: string) {
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
      yield* sql`UPDATE memberships SET status = 'suspended' WHERE subject = ${world.suspended}`
      const owner = yield* session(world.ada)
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
        ["OAuth token", bearer("oauth-full")],
        ["OAuth read token", bearer("oauth-read")],
        ["OAuth identity token", bearer("oauth-identity")],
        ["OAuth token for A", bearer("oauth-for-a")]
      ])
    })
  )
}
