import { expect } from "bun:test"
import { Effect, Layer, Option, Redacted } from "effect"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Accounts } from "../../../actors/account/Accounts.ts"
import { AccessTokens, type NewAccessToken } from "../../../actors/account/AccessTokens.ts"
import { secretHash } from "../../../actors/account/BearerSecret.ts"
import { ExtensionScopes, scopeCatalog } from "../../../actors/account/ScopeCatalog.ts"
import { Sessions } from "../../../actors/account/Sessions.ts"
import { TokenAuthority } from "../../../actors/account/TokenAuthority.ts"
import { TokenUse } from "../../../actors/account/TokenUse.ts"
import { Users } from "../../../actors/account/Users.ts"
import { serviceContext } from "../../../actors/Command.ts"
import { ReadSql } from "../../../actors/database/ReadSql.ts"
import { Members } from "../../../actors/workspace/Members.ts"
import { Memberships } from "../../../actors/workspace/Memberships.ts"
import type { ApiError } from "../../../schema/errors/ApiError.ts"
import { as, newPerson, newWorkspace, testAccounts, text } from "../../support/Accounts.ts"
import { it } from "../../support/Effect.ts"

const fresh = Effect.provide(Layer.fresh(testAccounts))

const newToken = Effect.fnUntraced(function* (subject: string, request: Partial<NewAccessToken> = {}) {
  const tokens = yield* AccessTokens
  return yield* tokens.create(as(subject), subject, { name: "ci", scopes: ["read"], ...request })
})

const tables = [
  "access_tokens",
  "account_sessions",
  "oauth_access_tokens",
  "audit_events",
  "workspaces",
  "memberships",
  "projects",
  "users"
]
const dump = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return JSON.stringify(yield* Effect.forEach(tables, (table) => sql`SELECT * FROM ${sql(table)} ORDER BY 1`))
})

it.effect("the secret is given once and stored as its digest only", () =>
  Effect.gen(function* () {
    const accounts = yield* Accounts
    const { subject } = yield* newPerson("ann")
    const { secret, token } = yield* newToken(subject, { scopes: ["read", "write"] })
    expect(token).toEqual({
      token_id: token.token_id,
      subject,
      name: "ci",
      prefix: text(secret).slice(0, 12),
      scopes: ["read", "write"],
      workspace_id: null,
      created_at: "1970-01-01T00:00:00.000Z",
      expires_at: "1970-04-01T00:00:00.000Z",
      revoked_at: null,
      last_used_at: null
    })
    expect(yield* dump).not.toContain(text(secret))
    expect(yield* accounts.authenticateBearer(secret)).toEqual({
      credential: "token",
      credentialId: token.token_id,
      subject,
      scopes: ["read", "write"]
    })
  }).pipe(fresh)
)

it.effect("a token ends by expiry, revocation or a locked account, and never by accident", () =>
  Effect.gen(function* () {
    const accounts = yield* Accounts
    const tokens = yield* AccessTokens
    const users = yield* Users
    const { subject } = yield* newPerson("ann")
    const short = yield* newToken(subject, { expiresAt: "1970-01-02T00:00:00.000Z" })
    const revoked = yield* newToken(subject)
    const locked = yield* newToken(subject)
    yield* TestClock.adjust("23 hours")
    yield* accounts.authenticateBearer(short.secret)
    yield* TestClock.adjust("1 hour")
    const expired = yield* Effect.flip(accounts.authenticateBearer(short.secret))
    const first = yield* tokens.revoke(as(subject), subject, revoked.token.token_id)
    yield* TestClock.adjust("1 hour")
    // Revoking again changes nothing, not even the time.
    expect(yield* tokens.revoke(as(subject), subject, revoked.token.token_id)).toEqual(first)
    const gone = yield* Effect.flip(accounts.authenticateBearer(revoked.secret))
    yield* users.setStatus(serviceContext, subject, "disabled")
    const out = yield* Effect.flip(accounts.authenticateBearer(locked.secret))
    for (const error of [expired, gone, out]) expect(error.code).toBe("invalid_token")
    expect(new Set([expired, gone, out].map(({ message }) => message)).size).toBe(1)
  }).pipe(fresh)
)

it.effect("nobody revokes a token of somebody else", () =>
  Effect.gen(function* () {
    const accounts = yield* Accounts
    const tokens = yield* AccessTokens
    const ann = yield* newPerson("ann")
    const bob = yield* newPerson("bob")
    const { secret, token } = yield* newToken(ann.subject)
    expect((yield* Effect.flip(tokens.revoke(as(bob.subject), bob.subject, token.token_id))).code).toBe("not_found")
    expect((yield* Effect.flip(tokens.revoke(as(bob.subject), bob.subject, "pat_unknown"))).code).toBe("not_found")
    expect((yield* accounts.authenticateBearer(secret)).subject).toBe(ann.subject)
  }).pipe(fresh)
)

it.effect("scopes outside the catalogue are refused, whoever asks", () =>
  Effect.gen(function* () {
    const { subject } = yield* newPerson("ann")
    const wrong = [
      [],
      ["admin"],
      ["*"],
      ["read", "read"],
      ["read", "tokens:admin"],
      ["ai.chat"],
      ["resources:read"],
      ["READ"]
    ]
    for (const scopes of wrong) {
      expect((yield* Effect.flip(newToken(subject, { scopes }))).code).toBe("invalid_request")
    }
  }).pipe(fresh)
)

const extension = (scope: string) => ({ scope, label: { ja: scope, en: scope }, description: { ja: scope, en: scope } })

it.effect("the catalogue offers the base scopes and what routes declare, never administration", () =>
  Effect.gen(function* () {
    const tokens = yield* AccessTokens
    expect(
      tokens.catalog.map(({ scope, selfService, workspaceBinding }) => [scope, selfService, workspaceBinding])
    ).toEqual([
      ["read", true, "optional"],
      ["write", true, "optional"]
    ])
    const declared = scopeCatalog(
      ["ai.models.read", "ai.chat", "ai.embeddings", "resources:read", "notes:read", "admin", "svc:admin", "read"].map(
        extension
      )
    )
    expect(declared.slice(2).map(({ scope, workspaceBinding }) => [scope, workspaceBinding])).toEqual([
      ["ai.models.read", "required"],
      ["ai.chat", "required"],
      ["ai.embeddings", "required"],
      ["resources:read", "required"],
      ["notes:read", "optional"]
    ])
  }).pipe(fresh)
)

it.effect("a declared scope that acts inside a Workspace needs a token bound to one", () =>
  Effect.gen(function* () {
    const { subject } = yield* newPerson("ann")
    const workspace = yield* newWorkspace(subject, { handle: "acme" })
    expect((yield* Effect.flip(newToken(subject, { scopes: ["ai.chat"] }))).code).toBe("invalid_request")
    const { token } = yield* newToken(subject, { scopes: ["ai.chat"], workspaceId: workspace.id })
    expect(token.workspace_id).toBe(workspace.id)
  }).pipe(
    Effect.provide(
      Layer.fresh(testAccounts).pipe(Layer.provide(Layer.succeed(ExtensionScopes, [extension("ai.chat")])))
    )
  )
)

it.effect("a token is bound to a Workspace of its owner only", () =>
  Effect.gen(function* () {
    const ann = yield* newPerson("ann")
    const bob = yield* newPerson("bob")
    const workspace = yield* newWorkspace(ann.subject, { handle: "acme" })
    const refused = yield* Effect.flip(newToken(bob.subject, { workspaceId: workspace.id }))
    const unknown = yield* Effect.flip(newToken(bob.subject, { workspaceId: "ws_aaaaaaaaaaaaaaaaaaaaaaaa" }))
    // A foreign Workspace and none at all look the same.
    expect({ ...refused }).toEqual({ ...unknown })
    expect(refused.code).toBe("permission_denied")
  }).pipe(fresh)
)

it.effect("nobody but an active account gets a token", () =>
  Effect.gen(function* () {
    const users = yield* Users
    const { subject } = yield* newPerson("ann")
    expect((yield* Effect.flip(newToken("usr_aaaaaaaaaaaaaaaaaaaaaaaa"))).code).toBe("not_found")
    yield* users.setStatus(serviceContext, subject, "disabled")
    expect((yield* Effect.flip(newToken(subject))).code).toBe("not_found")
  }).pipe(fresh)
)

it.effect("an expiry lies in the future and at most 366 days ahead", () =>
  Effect.gen(function* () {
    const { subject } = yield* newPerson("ann")
    for (const expiresAt of ["1970-01-01T00:00:00.000Z", "1969-12-31T00:00:00.000Z", "1971-01-02T00:00:00.001Z"]) {
      expect((yield* Effect.flip(newToken(subject, { expiresAt }))).code).toBe("invalid_request")
    }
    expect((yield* newToken(subject, { expiresAt: "1971-01-02T00:00:00.000Z" })).token.expires_at).toBe(
      "1971-01-02T00:00:00.000Z"
    )
  }).pipe(fresh)
)

it.effect("the use of a token is written at most once a minute, and a burst in one go", () =>
  Effect.gen(function* () {
    const accounts = yield* Accounts
    const tokens = yield* AccessTokens
    const use = yield* TokenUse
    const { subject } = yield* newPerson("ann")
    const { secret } = yield* newToken(subject)
    const lastUsed = Effect.map(tokens.list(subject, { limit: 1 }), ({ items }) => items[0]?.last_used_at)
    yield* TestClock.adjust("1 hour")
    for (let n = 0; n < 5; n++) yield* accounts.authenticateBearer(secret)
    expect(yield* lastUsed).toBeNull()
    yield* use.flush
    expect(yield* lastUsed).toBe("1970-01-01T01:00:00.000Z")
    yield* TestClock.adjust("59 seconds")
    yield* accounts.authenticateBearer(secret)
    yield* use.flush
    expect(yield* lastUsed).toBe("1970-01-01T01:00:00.000Z")
    yield* TestClock.adjust("2 seconds")
    yield* accounts.authenticateBearer(secret)
    yield* use.flush
    expect(yield* lastUsed).toBe("1970-01-01T01:01:01.000Z")
  }).pipe(fresh)
)

it.effect("the inventory counts all, pages by time then id, and names its last page", () =>
  Effect.gen(function* () {
    const tokens = yield* AccessTokens
    const ann = yield* newPerson("ann")
    const bob = yield* newPerson("bob")
    yield* newToken(bob.subject)
    // Several of one moment: the id decides.
    for (let n = 0; n < 7; n++) {
      const { token } = yield* newToken(ann.subject, { name: `t${n}` })
      if (n % 3 === 0) yield* tokens.revoke(as(ann.subject), ann.subject, token.token_id)
      if (n === 3) yield* TestClock.adjust("1 second")
    }
    const seen: Array<string> = []
    let cursor: string | undefined
    do {
      const page = yield* tokens.inventory(ann.subject, { limit: 3, cursor })
      expect(page).toMatchObject({
        kind: "svc.account-pat-inventory@v1",
        total: 7,
        limit: 3,
        returned: page.tokens.length
      })
      expect(page.truncated).toBe(page.next_cursor !== null)
      seen.push(...page.tokens.map((token) => `${token.created_at} ${token.token_id}`))
      cursor = page.next_cursor ?? undefined
    } while (cursor !== undefined)
    expect(seen).toEqual(seen.toSorted())
    expect(new Set(seen).size).toBe(7)
    const whole = yield* tokens.inventory(ann.subject, { limit: 7 })
    expect(whole).toMatchObject({ returned: 7, truncated: false, next_cursor: null })
    const nobody = yield* newPerson("carl")
    expect(yield* tokens.inventory(nobody.subject, { limit: 50 })).toEqual({
      kind: "svc.account-pat-inventory@v1",
      tokens: [],
      total: 0,
      returned: 0,
      limit: 50,
      truncated: false,
      next_cursor: null
    })
  }).pipe(fresh)
)

it.effect("a cursor is refused when malformed, foreign, of another list, or when its token is gone", () =>
  Effect.gen(function* () {
    const tokens = yield* AccessTokens
    const sql = yield* SqlClient.SqlClient
    const ann = yield* newPerson("ann")
    const bob = yield* newPerson("bob")
    for (let n = 0; n < 3; n++) yield* newToken(ann.subject)
    const page = yield* tokens.inventory(ann.subject, { limit: 1 })
    const cursor = page.next_cursor ?? ""
    const listed = yield* tokens.list(ann.subject, { limit: 1 })
    const refused: ReadonlyArray<Effect.Effect<unknown, ApiError>> = [
      tokens.inventory(ann.subject, { limit: 1, cursor: "nonsense" }),
      tokens.inventory(ann.subject, { limit: 1, cursor: "" }),
      tokens.inventory(bob.subject, { limit: 1, cursor }),
      tokens.list(ann.subject, { limit: 1, cursor }),
      tokens.inventory(ann.subject, { limit: 1, cursor: listed.nextCursor })
    ]
    for (const attempt of refused) expect((yield* Effect.flip(Effect.asVoid(attempt))).code).toBe("invalid_request")
    expect((yield* tokens.inventory(ann.subject, { limit: 5, cursor })).returned).toBe(2)
    yield* sql`DELETE FROM access_tokens WHERE token_id = ${page.tokens[0]?.token_id ?? ""}`
    expect((yield* Effect.flip(tokens.inventory(ann.subject, { limit: 1, cursor }))).code).toBe("invalid_request")
  }).pipe(fresh)
)

it.effect("an inventory page is one storage statement", () => {
  const statements: Array<string> = []
  const counting = Layer.effect(
    ReadSql,
    Effect.map(ReadSql, (read) =>
      Object.assign(
        new Proxy(read, {
          apply(target, self, args) {
            const [parts] = args
            if (Array.isArray(parts) && /^\s*(?:WITH|SELECT)/.test(String(parts[0]))) statements.push(String(parts[0]))
            return Reflect.apply(target, self, args)
          }
        }),
        {}
      )
    )
  )
  return Effect.gen(function* () {
    const tokens = yield* AccessTokens
    const { subject } = yield* newPerson("ann")
    for (let n = 0; n < 3; n++) yield* newToken(subject)
    const first = yield* tokens.inventory(subject, { limit: 1 })
    statements.length = 0
    yield* tokens.inventory(subject, { limit: 1, cursor: first.next_cursor ?? undefined })
    expect(statements.length).toBe(1)
  }).pipe(
    Effect.provide(AccessTokens.layer.pipe(Layer.provide(counting), Layer.provideMerge(Layer.fresh(testAccounts))))
  )
})

it.effect("the current authority tells what the presented token may do, and changes nothing", () =>
  Effect.gen(function* () {
    const authority = yield* TokenAuthority
    const use = yield* TokenUse
    const { subject } = yield* newPerson("ann")
    const workspace = yield* newWorkspace(subject, { handle: "acme" })
    const generic = yield* newToken(subject)
    const bound = yield* newToken(subject, { scopes: ["read", "write"], workspaceId: workspace.id })
    yield* TestClock.adjust("1 hour")
    const before = yield* dump
    expect(yield* authority.current(generic.secret)).toEqual({
      kind: "svc.account-pat-authority@v1",
      token_id: generic.token.token_id,
      subject,
      scopes: ["read"],
      workspace_id: null,
      expires_at: generic.token.expires_at,
      workspace_role: null
    })
    expect(yield* authority.current(bound.secret)).toMatchObject({
      workspace_id: workspace.id,
      workspace_role: "owner"
    })
    yield* use.flush
    expect(yield* dump).toBe(before)
  }).pipe(fresh)
)

it.effect("the current authority refuses what is no token, and a secret that two stores know", () =>
  Effect.gen(function* () {
    const authority = yield* TokenAuthority
    const accounts = yield* Accounts
    const sessions = yield* Sessions
    const sql = yield* SqlClient.SqlClient
    const { subject } = yield* newPerson("ann")
    const session = yield* sessions.open({ subject, method: "password" })
    const inSession = yield* newToken(subject)
    const inOauth = yield* newToken(subject)
    yield* sql`UPDATE account_sessions SET secret_hash = ${secretHash(inSession.secret)} WHERE id = ${session.session.id}`
    yield* sql`INSERT INTO oauth_access_tokens ${sql.insert({
      id: "oat_1",
      secret_hash: secretHash(inOauth.secret),
      subject,
      client_id: "c",
      grant_id: "g",
      scopes: "[]",
      created_at: "1970-01-01T00:00:00.000Z",
      expires_at: "1970-01-01T00:00:00.000Z"
    })}`
    const before = yield* dump
    for (const bearer of [
      session.secret,
      inSession.secret,
      inOauth.secret,
      Redacted.make("svcp_guess"),
      Redacted.make("eyJ.e30.x")
    ]) {
      expect((yield* Effect.flip(authority.current(bearer))).code).toBe("invalid_token")
      expect((yield* Effect.flip(accounts.authenticateBearer(bearer))).code).toBe("invalid_token")
    }
    expect(yield* dump).toBe(before)
  }).pipe(fresh)
)

it.effect("a bound token loses its authority with the membership, and gets it back with it", () =>
  Effect.gen(function* () {
    const authority = yield* TokenAuthority
    const members = yield* Members
    const owner = yield* newPerson("owner")
    const ann = yield* newPerson("ann")
    const workspace = yield* newWorkspace(owner.subject, { handle: "acme" })
    const scope = { workspaceId: workspace.id, acting: { subject: owner.subject } }
    yield* members.add(as(owner.subject), scope, { subject: ann.subject, role: "viewer" })
    const { secret } = yield* newToken(ann.subject, { workspaceId: workspace.id })
    expect((yield* authority.current(secret)).workspace_role).toBe("viewer")
    yield* members.remove(as(owner.subject), scope, ann.subject)
    expect((yield* Effect.flip(authority.current(secret))).code).toBe("workspace_membership_inactive")
    yield* members.add(as(owner.subject), scope, { subject: ann.subject, role: "admin" })
    expect((yield* authority.current(secret)).workspace_role).toBe("admin")
  }).pipe(fresh)
)

it.effect("when the membership cannot be read, the answer is 503 and nothing is written", () => {
  const down = new SqlError({ reason: new ConnectionError({ cause: "gone", message: "gone", operation: "execute" }) })
  const faulty = Layer.effect(
    ReadSql,
    Effect.map(
      ReadSql,
      (read) =>
        new Proxy(read, {
          apply: (target, self, args) =>
            String(args[0]).includes("memberships") ? Effect.fail(down) : Reflect.apply(target, self, args)
        })
    )
  )
  return Effect.gen(function* () {
    const healthy = yield* AccessTokens
    const { subject } = yield* newPerson("ann")
    const workspace = yield* newWorkspace(subject, { handle: "acme" })
    const { secret } = yield* healthy.create(as(subject), subject, {
      name: "b",
      scopes: ["read"],
      workspaceId: workspace.id
    })
    const before = yield* dump
    const outage = TokenAuthority.layer.pipe(Layer.provide(Layer.fresh(Memberships.layer).pipe(Layer.provide(faulty))))
    const error = yield* Effect.flip(Effect.flatMap(TokenAuthority, (authority) => authority.current(secret))).pipe(
      Effect.provide(Layer.fresh(outage))
    )
    expect(error).toMatchObject({ code: "verification_unavailable", status: 503 })
    expect(yield* dump).toBe(before)
    expect(
      Option.isSome(yield* Effect.flatMap(Memberships, (memberships) => memberships.role(subject, workspace.id)))
    ).toBe(true)
  }).pipe(fresh)
})
