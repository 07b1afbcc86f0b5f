import { expect } from "bun:test"
import { Effect, Layer, Option, Redacted } from "effect"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Accounts } from "../../../../actors/access/account/Accounts.ts"
import { AccessTokens } from "../../../../actors/access/account/AccessTokens.ts"
import { secretHash } from "../../../../actors/base/credential/BearerSecret.ts"
import { Sessions } from "../../../../actors/access/account/Sessions.ts"
import { TokenAuthority } from "../../../../actors/access/account/TokenAuthority.ts"
import { TokenUse } from "../../../../actors/access/account/TokenUse.ts"
import { ReadSql } from "../../../../actors/base/database/ReadSql.ts"
import { Members } from "../../../../actors/access/member/Members.ts"
import { Memberships } from "../../../../actors/ledger/workspace/Memberships.ts"
import { as, joinWorkspace, newPerson, newWorkspace } from "../../../support/Accounts.ts"
import { it } from "../../../support/Effect.ts"
import { dump, fresh, newToken } from "./support/Tokens.ts"

it.effect("the current-authority endpoint returns the authority of the presented token, and changes nothing", () =>
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

it.effect(
  "the current-authority endpoint rejects strings that are not tokens, and a secret that exists in two stores",
  () =>
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

it.effect(
  "a bound token loses its authority when the membership ends, and regains it when the membership is restored",
  () =>
    Effect.gen(function* () {
      const authority = yield* TokenAuthority
      const members = yield* Members
      const owner = yield* newPerson("owner")
      const ann = yield* newPerson("ann")
      const workspace = yield* newWorkspace(owner.subject, { handle: "acme" })
      const scope = { workspaceId: workspace.id, acting: { subject: owner.subject } }
      yield* joinWorkspace(owner.subject, workspace.id, ann.subject, "viewer")
      const { secret } = yield* newToken(ann.subject, { workspaceId: workspace.id })
      expect((yield* authority.current(secret)).workspace_role).toBe("viewer")
      yield* members.remove(as(owner.subject), scope, ann.subject)
      expect((yield* Effect.flip(authority.current(secret))).code).toBe("workspace_membership_inactive")
      yield* joinWorkspace(owner.subject, workspace.id, ann.subject, "admin")
      expect((yield* authority.current(secret)).workspace_role).toBe("admin")
    }).pipe(fresh)
)

it.effect("a token request returns 503 and writes nothing if the membership cannot be read", () => {
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
