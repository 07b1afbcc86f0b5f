import { expect } from "bun:test"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Accounts } from "../../../../actors/access/account/Accounts.ts"
import { AccessTokens } from "../../../../actors/access/account/AccessTokens.ts"
import { ExtensionScopes, scopeCatalog } from "../../../../actors/access/account/ScopeCatalog.ts"
import { TokenUse } from "../../../../actors/access/account/TokenUse.ts"
import { Users } from "../../../../actors/access/account/Users.ts"
import { serviceContext } from "../../../../schema/commands/Command.ts"
import { as, newPerson, newWorkspace, testAccounts, text } from "../../../support/Accounts.ts"
import { it } from "../../../support/Effect.ts"
import { namedWorkspace } from "../../../support/NamedIds.ts"
import { AccessTokenId } from "../../../../schema/records/Ids.ts"
import { dump, fresh, newToken } from "./support/Tokens.ts"

it.effect("a new token's secret is returned once and stored only as its digest", () =>
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

it.effect("a token stays valid until it expires, is revoked, or its account is locked", () =>
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
    // Revoking a token again changes nothing, not even its timestamp.
    expect(yield* tokens.revoke(as(subject), subject, revoked.token.token_id)).toEqual(first)
    const gone = yield* Effect.flip(accounts.authenticateBearer(revoked.secret))
    yield* users.setStatus(serviceContext, subject, "disabled")
    const out = yield* Effect.flip(accounts.authenticateBearer(locked.secret))
    for (const error of [expired, gone, out]) expect(error.code).toBe("invalid_token")
    expect(new Set([expired, gone, out].map(({ message }) => message)).size).toBe(1)
  }).pipe(fresh)
)

it.effect("a caller cannot revoke another account's token", () =>
  Effect.gen(function* () {
    const accounts = yield* Accounts
    const tokens = yield* AccessTokens
    const ann = yield* newPerson("ann")
    const bob = yield* newPerson("bob")
    const { secret, token } = yield* newToken(ann.subject)
    expect((yield* Effect.flip(tokens.revoke(as(bob.subject), bob.subject, token.token_id))).code).toBe("not_found")
    expect(
      (yield* Effect.flip(tokens.revoke(as(bob.subject), bob.subject, AccessTokenId.make(`pat_${"a".repeat(24)}`))))
        .code
    ).toBe("not_found")
    expect((yield* accounts.authenticateBearer(secret)).subject).toBe(ann.subject)
  }).pipe(fresh)
)

it.effect("no caller can create a token with scopes outside the catalogue", () =>
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

it.effect("the scope catalogue contains base scopes and scopes declared by routes, but no administration scopes", () =>
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

it.effect("a token with a Workspace-level declared scope must be bound to a Workspace", () =>
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

it.effect("a token can be bound only to a Workspace of its owner", () =>
  Effect.gen(function* () {
    const ann = yield* newPerson("ann")
    const bob = yield* newPerson("bob")
    const workspace = yield* newWorkspace(ann.subject, { handle: "acme" })
    const refused = yield* Effect.flip(newToken(bob.subject, { workspaceId: workspace.id }))
    const unknown = yield* Effect.flip(newToken(bob.subject, { workspaceId: namedWorkspace("unknown") }))
    // The error for another person's Workspace is the same as the error for a nonexistent Workspace.
    expect({ ...refused }).toEqual({ ...unknown })
    expect(refused.code).toBe("permission_denied")
  }).pipe(fresh)
)

it.effect("only an active account can receive a token", () =>
  Effect.gen(function* () {
    const users = yield* Users
    const { subject } = yield* newPerson("ann")
    expect((yield* Effect.flip(newToken("usr_aaaaaaaaaaaaaaaaaaaaaaaa"))).code).toBe("not_found")
    yield* users.setStatus(serviceContext, subject, "disabled")
    expect((yield* Effect.flip(newToken(subject))).code).toBe("not_found")
  }).pipe(fresh)
)

it.effect("a token must expire in the future, within 366 days", () =>
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

it.effect("token use is recorded at most once a minute, and a burst of requests causes a single write", () =>
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
