import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { newWorkspace } from "../../../../support/Accounts.ts"
import { errorOf, json, must, mustBe, refresh, signInTo, tokensOf, userInfo } from "./Browser.ts"
import { setMembership } from "./CapsuleFixture.ts"
import { idTokenClaims } from "./IdTokens.ts"
import { callback } from "./IssuerFixture.ts"
import type { Module } from "./Modules.ts"
import { someone } from "./Someone.ts"

const at = "2026-01-01T00:00:00.000Z"
const names = ["name", "preferred_username", "updated_at", "email", "email_verified", "groups"] as const
const shape = (value: unknown) => JSON.stringify(value)

/** Returns one person's claims, after checking that the ID token and UserInfo agree. */
const claimsOf = Effect.fnUntraced(function* (fields: Record<string, string>, cookie: string) {
  const tokens = yield* signInTo(fields, cookie)
  const token = yield* idTokenClaims(tokens.id_token)
  const info = yield* json(yield* userInfo(tokens.access_token))
  const said = Object.fromEntries(names.map((name) => [name, info[name]]))
  yield* mustBe(
    shape(Object.fromEntries(names.map((name) => [name, token[name]]))),
    shape(said),
    "ID token and UserInfo"
  )
  return { said, tokens }
})

const everything = "openid profile email groups offline_access"

const alike = Effect.gen(function* () {
  const { cookie, subject } = yield* someone
  const sql = yield* SqlClient.SqlClient
  const { said, tokens } = yield* claimsOf({ scope: everything }, cookie)
  yield* must(String(said.email).startsWith(`${String(said.preferred_username)}@`), "preferred_username")
  yield* must(Number.isInteger(said.updated_at), "updated_at in seconds")
  yield* mustBe(shape(said.groups), "[]", "groups of a person without Workspaces")
  yield* sql`UPDATE users SET display_name = NULL WHERE subject = ${subject}`
  const renewed = yield* tokensOf(yield* refresh(tokens.refresh_token ?? ""))
  const later = yield* idTokenClaims(renewed.id_token)
  yield* mustBe(later["name"], said.preferred_username, "name of an account without one, after a refresh")
  yield* mustBe(later["email"], said.email, "email after a refresh")
  const plain = yield* claimsOf({ scope: "openid" }, cookie)
  yield* mustBe(shape(plain.said), "{}", "claims without a scope")
})

const verified = Effect.gen(function* () {
  const { cookie, subject } = yield* someone
  const sql = yield* SqlClient.SqlClient
  const scope = { scope: "openid email" }
  const first = yield* claimsOf(scope, cookie)
  yield* mustBe(first.said.email_verified, false, "an address that only the operator typed")
  const proven = { issuer: "https://up.example", upstream_subject: subject, subject, created_at: at, last_used_at: at }
  yield* sql`INSERT INTO upstream_identities ${sql.insert({ ...proven, verified_email: "other@example.com" })}`
  yield* mustBe((yield* claimsOf(scope, cookie)).said.email_verified, false, "another address was verified")
  yield* sql`UPDATE upstream_identities SET verified_email = ${String(first.said.email)} WHERE subject = ${subject}`
  yield* mustBe((yield* claimsOf(scope, cookie)).said.email_verified, true, "the address was verified upstream")
  yield* sql`UPDATE users SET email = ${`new-${subject}@example.com`} WHERE subject = ${subject}`
  yield* mustBe((yield* claimsOf(scope, cookie)).said.email_verified, false, "after a change of the address")
})

const groups = Effect.gen(function* () {
  const { cookie, subject } = yield* someone
  const end = subject.slice(-8).toLowerCase()
  const first = yield* newWorkspace(subject, { handle: `groups-a-${end}` })
  const second = yield* newWorkspace(subject, { handle: `groups-b-${end}` })
  yield* setMembership(second.id, subject, { role: "viewer" })
  const scope = "openid groups"
  const all = yield* claimsOf({ scope }, cookie)
  yield* mustBe(shape(all.said.groups), shape([`${first.handle}:owner`, `${second.handle}:viewer`]), "all groups")
  const sql = yield* SqlClient.SqlClient
  const team = {
    id: `team_${end.padEnd(24, "x")}`,
    workspace_id: first.id,
    name: "sre",
    created_at: at,
    updated_at: at
  }
  yield* sql`INSERT INTO teams ${sql.insert(team)}`
  yield* sql`INSERT INTO team_members ${sql.insert({ team_id: team.id, subject })}`
  const teamed = [`${first.handle}:owner`, `${first.handle}:team:sre`, `${second.handle}:viewer`]
  yield* mustBe(shape((yield* claimsOf({ scope }, cookie)).said.groups), shape(teamed), "groups with a team")
  yield* sql`DELETE FROM team_members WHERE team_id = ${team.id}`
  const bound = yield* claimsOf({ scope, workspace_id: second.id }, cookie)
  yield* mustBe(shape(bound.said.groups), shape([`${second.handle}:viewer`]), "groups in one Workspace")
  yield* mustBe(
    (yield* claimsOf({ scope: "openid profile" }, cookie)).said.groups,
    undefined,
    "groups without the scope"
  )
  yield* setMembership(second.id, subject, { status: "suspended" })
  const left = yield* json(yield* userInfo(all.tokens.access_token))
  yield* mustBe(shape(left["groups"]), shape([`${first.handle}:owner`]), "groups after a suspension")
})

const removedAddress = Effect.gen(function* () {
  const { cookie, subject } = yield* someone
  const sql = yield* SqlClient.SqlClient
  const { tokens } = yield* claimsOf({ scope: everything }, cookie)
  // Restarts the issuer with a different client file.
  yield* sql`UPDATE oidc_grants SET redirect_uri = 'https://rp.example.com/removed' WHERE subject = ${subject}`
  yield* mustBe((yield* userInfo(tokens.access_token)).status, 401, "UserInfo after the address went")
  const refreshed = yield* refresh(tokens.refresh_token ?? "")
  yield* mustBe(yield* errorOf(refreshed), "invalid_grant", "refresh after the address went")
  yield* sql`UPDATE oidc_grants SET redirect_uri = ${callback} WHERE subject = ${subject}`
  const again = yield* refresh(tokens.refresh_token ?? "")
  yield* mustBe(yield* errorOf(again), "invalid_grant", "refresh after the address came back")
})

/** Rules for the personal data that applications receive, and for how long applications may read this data. */
export const claimRuleModules: ReadonlyArray<Module> = [
  { name: "the ID token and UserInfo say the same, of the scopes that were asked for", check: alike },
  { name: "an address is verified only while an upstream provider vouches for it", check: verified },
  { name: "groups are the roles of the moment, within the Workspace of the grant", check: groups },
  { name: "a redirect address that is gone takes what was granted there", check: removedAddress }
]
