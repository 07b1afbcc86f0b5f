import { expect } from "bun:test"
import { Effect, Layer, Option, Redacted, Result } from "effect"
import { SqlClient } from "effect/sql"
import { AccessTokens } from "../../../../actors/access/account/AccessTokens.ts"
import { PasswordSignIn } from "../../../../actors/access/account/PasswordSignIn.ts"
import { Passwords } from "../../../../actors/access/account/Passwords.ts"
import { Sessions } from "../../../../actors/access/account/Sessions.ts"
import { SetupLinks } from "../../../../actors/access/account/SetupLinks.ts"
import { TokenAuthority } from "../../../../actors/access/account/TokenAuthority.ts"
import { UpstreamArrivals } from "../../../../actors/access/member/UpstreamArrivals.ts"
import { Users } from "../../../../actors/access/account/Users.ts"
import { Audit } from "../../../../actors/base/audit/Audit.ts"
import { serviceContext } from "../../../../schema/commands/Command.ts"
import { AutomationMembers } from "../../../../actors/access/member/AutomationMembers.ts"
import { Invitations } from "../../../../actors/access/member/Invitations.ts"
import { type MemberChange, Members } from "../../../../actors/access/member/Members.ts"
import { Memberships } from "../../../../actors/ledger/workspace/Memberships.ts"
import type { WorkspaceId } from "../../../../schema/records/Ids.ts"
import type { Role } from "../../../../schema/records/Workspace.ts"
import { as, joinWorkspace, newPerson, newWorkspace, testAccounts } from "../../../support/Accounts.ts"
import { it } from "../../../support/Effect.ts"

const fresh = Effect.provide(Layer.fresh(testAccounts))

const team = Effect.gen(function* () {
  const owner = (yield* newPerson("owner")).subject
  const { id } = yield* newWorkspace(owner, { handle: "acme" })
  const join = Effect.fnUntraced(function* (name: string, role: Role) {
    const { subject } = yield* newPerson(name)
    yield* joinWorkspace(owner, id, subject, role)
    return subject
  })
  return { id, owner, admin: yield* join("admin", "admin"), member: yield* join("member", "member") }
})

const scopeOf = (workspaceId: WorkspaceId, acting: string) => ({ workspaceId, acting: { subject: acting } })
const make = (workspaceId: WorkspaceId, acting: string, role?: Role) =>
  Effect.flatMap(AutomationMembers, (automations) =>
    automations.create(as(acting), scopeOf(workspaceId, acting), { displayName: "deploy", role })
  )
const update = (workspaceId: WorkspaceId, acting: string, subject: string, change: MemberChange) =>
  Effect.flatMap(Members, (members) => members.update(as(acting), scopeOf(workspaceId, acting), subject, change))
const remove = (workspaceId: WorkspaceId, acting: string, subject: string) =>
  Effect.flatMap(Members, (members) => members.remove(as(acting), scopeOf(workspaceId, acting), subject))
const code = <A, E extends { readonly code: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.result(effect), (outcome) => (Result.isFailure(outcome) ? outcome.failure.code : "ok"))

it.effect(
  "owners and admins can create automations with roles up to their own, but nobody can create an automation with the owner role",
  () =>
    Effect.gen(function* () {
      const { admin, id, member, owner } = yield* team
      expect(yield* make(id, owner)).toMatchObject({
        kind: "automation",
        displayName: "deploy",
        role: "member",
        status: "active"
      })
      const codes = yield* Effect.forEach(
        [
          make(id, admin, "admin"),
          make(id, owner, "admin"),
          make(id, owner, "owner"),
          make(id, admin, "owner"),
          make(id, member, "viewer")
        ],
        code
      )
      expect(codes).toEqual(["ok", "ok", "failed_precondition", "failed_precondition", "permission_denied"])
      const listed = yield* Effect.flatMap(Members, (members) =>
        members.list(id, owner, { limit: 10, cursor: undefined })
      )
      const automations = listed.items.filter(({ kind }) => kind === "automation")
      expect(automations.map(({ displayName, email, role }) => `${displayName} ${email} ${role}`).toSorted()).toEqual([
        "deploy undefined admin",
        "deploy undefined admin",
        "deploy undefined member"
      ])
      const history = yield* Effect.flatMap(Audit, (audit) =>
        audit.list(id, owner, { action: "automation.create" }, { limit: 10, cursor: undefined })
      )
      expect(history.items.map(({ actor, data }) => `${actor.subject} ${data["role"]}`).toSorted()).toEqual(
        [`${owner} member`, `${owner} admin`, `${admin} admin`].toSorted()
      )
    }).pipe(fresh)
)

it.effect("owners and admins can rename, suspend and remove automations, and automations can never become owners", () =>
  Effect.gen(function* () {
    const { admin, id, member, owner } = yield* team
    const { subject } = yield* make(id, owner, "admin")
    expect((yield* update(id, admin, subject, { displayName: "release" })).displayName).toBe("release")
    expect(yield* code(update(id, member, subject, { displayName: "mine" }))).toBe("permission_denied")
    expect(yield* code(update(id, owner, member, { displayName: "theirs" }))).toBe("invalid_request")
    expect(yield* code(update(id, owner, subject, { role: "owner" }))).toBe("failed_precondition")
    const handOver = Effect.flatMap(Members, (members) => members.handOver(as(owner), scopeOf(id, owner), subject))
    expect(yield* code(handOver)).toBe("failed_precondition")
    // An automation cannot leave a Workspace, because no invitation could readmit it.
    expect((yield* update(id, owner, subject, { role: "viewer" })).role).toBe("viewer")
    expect(yield* code(remove(id, subject, subject))).toBe("permission_denied")
    expect((yield* update(id, admin, subject, { status: "suspended" })).status).toBe("suspended")
    expect((yield* update(id, admin, subject, { status: "active" })).status).toBe("active")
    yield* remove(id, admin, subject)
    expect(Option.isNone(yield* Effect.flatMap(Memberships, (of) => of.role(subject, id)))).toBe(true)
  }).pipe(fresh)
)

it.effect("removing an automation revokes its tokens, but removing a person revokes no tokens of that person", () =>
  Effect.gen(function* () {
    const { id, member, owner } = yield* team
    const tokens = yield* AccessTokens
    const authority = yield* TokenAuthority
    const { subject } = yield* make(id, owner)
    const tokenOf = (holder: string) =>
      tokens.create(as(owner), holder, { name: "ci", scopes: ["read"], workspaceId: id })
    const ofAutomation = yield* tokenOf(subject)
    const ofMember = yield* tokenOf(member)
    expect(yield* code(authority.current(ofAutomation.secret))).toBe("ok")
    expect(yield* code(authority.current(ofMember.secret))).toBe("ok")
    yield* remove(id, owner, subject)
    yield* remove(id, owner, member)
    expect(yield* code(authority.authenticate(ofAutomation.secret))).toBe("invalid_token")
    expect(yield* code(authority.current(ofMember.secret))).toBe("workspace_membership_inactive")
  }).pipe(fresh)
)

it.effect(
  "no sign-in method gives access to an automation, even if credentials for the automation are in the database",
  () =>
    Effect.gen(function* () {
      const { id, owner } = yield* team
      const sql = yield* SqlClient.SqlClient
      const users = yield* Users
      const sessions = yield* Sessions
      const { subject } = yield* make(id, owner, "admin")
      const password = Redacted.make("a password of twelve")
      const hash = yield* Effect.flatMap(Passwords, (passwords) => passwords.hash(password))
      const [{ email } = { email: "" }] = yield* sql<{
        email: string
      }>`SELECT email FROM users WHERE subject = ${subject}`

      expect(Option.isNone(yield* users.find(subject))).toBe(true)
      expect(Option.isNone(yield* users.findByEmail(email))).toBe(true)
      expect(yield* code(users.setPassword(serviceContext, subject, hash))).toBe("not_found")
      expect(yield* code(Effect.flatMap(SetupLinks, (links) => links.issueReset(subject)))).toBe("not_found")
      // Addresses contain an @ and subjects do not, so no account can take over an automation's subject.
      expect(yield* code(users.create(serviceContext, { email: subject, isOperator: false }))).toBe("invalid_request")

      yield* sql`INSERT INTO user_passwords ${sql.insert({ subject, password_hash: hash, updated_at: "2026-01-01T00:00:00.000Z" })}`
      yield* sql`UPDATE users SET email = 'deploy@example.com' WHERE subject = ${subject}`
      const byPassword = Effect.flatMap(PasswordSignIn, (entrance) =>
        entrance.signIn({ email: "deploy@example.com", password })
      )
      expect(yield* code(byPassword)).toBe("unauthenticated")
      yield* users.proveAddress(subject, "deploy@example.com", "operator")
      const identity = { issuer: "https://id.example.com", subject: "x", verifiedEmail: "deploy@example.com" }
      const arrived = Effect.flatMap(UpstreamArrivals, ({ enter }) => enter(identity, { trust: "email_verified" }))
      expect(yield* Effect.flip(arrived)).toMatchObject({ reason: "unknown_identity" })
      const planted = yield* sessions.open({ subject, method: "passkey" })
      expect(yield* code(sessions.authenticate(planted.secret))).toBe("unauthenticated")

      // An automation cannot be invited to another Workspace.
      const elsewhere = yield* newWorkspace(owner, { handle: "other" })
      const invited = Effect.flatMap(Invitations, (invitations) =>
        invitations.create(as(owner), scopeOf(elsewhere.id, owner), { subject })
      )
      expect(yield* code(invited)).toBe("not_found")
    }).pipe(fresh)
)
