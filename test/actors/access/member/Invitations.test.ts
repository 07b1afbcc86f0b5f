import { expect } from "bun:test"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Users } from "../../../../actors/access/account/Users.ts"
import { serviceContext } from "../../../../schema/commands/Command.ts"
import { endInvitations } from "../../../../actors/access/member/InvitationRow.ts"
import { Invitations } from "../../../../actors/access/member/Invitations.ts"
import { Members } from "../../../../actors/access/member/Members.ts"
import { Workspaces } from "../../../../actors/ledger/workspace/Workspaces.ts"
import type { Role } from "../../../../schema/records/Workspace.ts"
import { as, joinWorkspace, newPerson } from "../../../support/Accounts.ts"
import { it } from "../../../support/Effect.ts"
import { accept, code, fresh, invite, roleOf, setting } from "./support/InvitedWorkspace.ts"

const at = "1970-01-01T00:00:00.000Z"

it.effect("an open link makes one person a member, and repeating the request changes nothing", () =>
  Effect.gen(function* () {
    const of = yield* setting
    const { invitation, member, secret } = yield* invite(of, of.admin, {})
    expect([invitation.role, invitation.status, member]).toEqual(["member", "pending", undefined])
    expect(yield* roleOf(of, of.ann)).toBeNull()
    expect(yield* accept(of.ann, secret)).toMatchObject({ status: "accepted", acceptedBy: of.ann })
    expect(yield* roleOf(of, of.ann)).toBe("member")
    expect(yield* accept(of.ann, secret)).toMatchObject({ status: "accepted", acceptedBy: of.ann })
    expect(yield* code(accept(of.bob, secret))).toBe("not_found")
    expect(yield* roleOf(of, of.bob)).toBeNull()
  }).pipe(fresh)
)

it.effect("lists show an invitation as pending until it expires", () =>
  Effect.gen(function* () {
    const of = yield* setting
    const invitations = yield* Invitations
    const members = yield* Members
    yield* invite(of, of.owner, { email: "late@example.com", expiresAt: "1970-01-03T00:00:00.000Z" })
    yield* invite(of, of.owner, { email: "soon@example.com", expiresAt: "1970-01-02T00:00:00.000Z" })
    const listed = Effect.map(invitations.list(of.id, of.owner, { limit: 50 }), ({ items }) =>
      Object.fromEntries(items.flatMap(({ email, status }) => (email === undefined ? [] : [[email, status]])))
    )
    const invited = Effect.map(members.list(of.id, of.owner, { limit: 50 }), ({ items }) =>
      items.flatMap(({ email, status }) => (status === "invited" ? [email] : [])).toSorted()
    )
    expect(yield* listed).toEqual({ "late@example.com": "pending", "soon@example.com": "pending" })
    expect(yield* invited).toEqual(["late@example.com", "soon@example.com"])
    yield* TestClock.adjust("1 days")
    expect(yield* listed).toEqual({ "late@example.com": "pending", "soon@example.com": "expired" })
    expect(yield* invited).toEqual(["late@example.com"])
  }).pipe(fresh)
)

it.effect("an invitation's secret is stored only as a digest", () =>
  Effect.gen(function* () {
    const of = yield* setting
    const sql = yield* SqlClient.SqlClient
    const { secret } = yield* invite(of, of.owner, {})
    const stored = JSON.stringify(yield* sql`SELECT * FROM invitations`)
    expect(stored).not.toContain(Redacted.value(secret))
    expect(stored).not.toContain(Redacted.value(secret).slice(5, 25))
  }).pipe(fresh)
)

it.effect("only an owner's open link can offer a role above member, and only owners can invite owners", () =>
  Effect.gen(function* () {
    const of = yield* setting
    yield* joinWorkspace(of.owner, of.id, of.bob, "member")
    const answers: Record<string, string> = {}
    for (const [name, inviter] of Object.entries({
      owner: of.owner,
      admin: of.admin,
      member: of.bob,
      stranger: of.ann
    }))
      for (const role of ["viewer", "member", "admin", "owner"] satisfies ReadonlyArray<Role>) {
        const open = yield* code(invite(of, inviter, { role }))
        const named = yield* code(invite(of, inviter, { role, email: "new@example.com" }))
        answers[`${name} ${role}`] = `${open} ${named}`
      }
    const denied = "permission_denied"
    expect(answers).toEqual({
      "owner viewer": "ok ok",
      "owner member": "ok ok",
      "owner admin": "ok ok",
      "owner owner": "ok ok",
      "admin viewer": "ok ok",
      "admin member": "ok ok",
      "admin admin": `${denied} ok`,
      "admin owner": `${denied} ${denied}`,
      ...Object.fromEntries(
        ["member", "stranger"].flatMap((name) =>
          ["viewer", "member", "admin", "owner"].map((role) => [`${name} ${role}`, `${denied} ${denied}`])
        )
      )
    })
  }).pipe(fresh)
)

it.effect("inviting an address with an account gets the same response as inviting an address without an account", () =>
  Effect.gen(function* () {
    const of = yield* setting
    const known = yield* invite(of, of.owner, { email: "Ann@example.com", role: "viewer" })
    const unknown = yield* invite(of, of.owner, { email: "nobody@example.com", role: "viewer" })
    const members = yield* Members
    const listed = (yield* members.list(of.id, of.owner, { limit: 20 })).items.filter(
      ({ status }) => status === "invited"
    )
    expect(listed.map(({ email }) => email).toSorted()).toEqual(["ann@example.com", "nobody@example.com"])
    const strip = (text: string) => text.replace(/(?:usr|inv)_[a-z0-9]+/g, "id").replace(/ann|nobody/g, "x")
    const shape = ({ invitation, member }: typeof known) => strip(JSON.stringify({ invitation, member }))
    expect(shape(known)).toBe(shape(unknown))
    // The response reveals neither the subject nor the name of the account.
    expect(JSON.stringify([known, listed])).not.toContain(of.ann)
    expect(known.member?.displayName).toBeUndefined()
  }).pipe(fresh)
)

it.effect("only an account that has verified the invited address can accept an invitation to that address", () =>
  Effect.gen(function* () {
    const of = yield* setting
    const users = yield* Users
    const { secret } = yield* invite(of, of.owner, { email: "bob@example.com", role: "admin" })
    expect(yield* code(accept(of.ann, secret))).toBe("permission_denied")
    expect(yield* code(accept(of.bob, secret))).toBe("permission_denied")
    yield* users.proveAddress(of.bob, "other@example.com", "mail")
    expect(yield* code(accept(of.bob, secret))).toBe("permission_denied")
    const sql = yield* SqlClient.SqlClient
    const identity = (email: string) =>
      sql`INSERT INTO upstream_identities ${sql.insert({ issuer: "https://login.example.com", upstream_subject: email, subject: of.bob, verified_email: email, created_at: at, last_used_at: at })}
        ON CONFLICT (subject, issuer) DO UPDATE SET verified_email = excluded.verified_email`
    yield* identity("other@example.com")
    expect(yield* code(accept(of.bob, secret))).toBe("permission_denied")
    yield* identity("bob@example.com")
    expect(yield* code(accept(of.bob, secret))).toBe("ok")
    expect(yield* roleOf(of, of.bob)).toBe("admin")
  }).pipe(fresh)
)

it.effect("only the invited account can accept an invitation, and the inviter does not see that account", () =>
  Effect.gen(function* () {
    const of = yield* setting
    const { member, secret } = yield* invite(of, of.owner, { subject: of.bob })
    expect(member).toMatchObject({ subject: of.bob, status: "invited" })
    expect([member?.email, member?.displayName]).toEqual([undefined, undefined])
    expect(yield* code(accept(of.ann, secret))).toBe("permission_denied")
    expect(yield* code(accept(of.bob, secret))).toBe("ok")
    expect(yield* code(invite(of, of.owner, { subject: `usr_${"a".repeat(24)}` }))).toBe("not_found")
    expect(yield* code(invite(of, of.owner, { subject: of.bob, email: "bob@example.com" }))).toBe("invalid_request")
  }).pipe(fresh)
)

it.effect("an invitation grants nothing once its inviter is demoted, removed or locked", () =>
  Effect.gen(function* () {
    const of = yield* setting
    const users = yield* Users
    const members = yield* Members
    const scope = { workspaceId: of.id, acting: { subject: of.owner } }
    const { secret } = yield* invite(of, of.admin, {})
    const now = code(accept(of.ann, secret))
    yield* members.update(as(of.owner), scope, of.admin, { role: "member" })
    expect(yield* now).toBe("failed_precondition")
    yield* members.update(as(of.owner), scope, of.admin, { role: "admin" })
    yield* members.remove(as(of.owner), scope, of.admin)
    expect(yield* now).toBe("failed_precondition")
    yield* members.update(as(of.owner), scope, of.admin, { status: "active" })
    yield* users.setStatus(serviceContext, of.admin, "disabled")
    expect(yield* now).toBe("failed_precondition")
    yield* users.setStatus(serviceContext, of.admin, "active")
    expect(yield* now).toBe("ok")
    const asOwner = yield* invite(of, of.owner, { email: "ann@example.com", role: "owner" }).pipe(Effect.flip)
    expect(asOwner.code).toBe("failed_precondition")
    const forBob = yield* invite(of, of.owner, { subject: of.bob, role: "owner" })
    yield* joinWorkspace(of.owner, of.id, (yield* newPerson("second")).subject, "owner")
    yield* members.update(as(of.owner), scope, of.owner, { role: "admin" })
    expect(yield* code(accept(of.bob, forBob.secret))).toBe("failed_precondition")
    expect(yield* roleOf(of, of.bob)).toBeNull()
  }).pipe(fresh)
)

it.effect("an invitation becomes invalid when it expires, is withdrawn or declined, or when a backup is restored", () =>
  Effect.gen(function* () {
    const of = yield* setting
    const invitations = yield* Invitations
    const scope = { workspaceId: of.id, acting: { subject: of.admin } }
    const bad = ["1970-01-01T00:00:00.000Z", "1970-01-31T00:00:00.001Z"]
    for (const expiresAt of bad) expect(yield* code(invite(of, of.owner, { expiresAt }))).toBe("invalid_request")
    const first = yield* invite(of, of.owner, {})
    yield* TestClock.adjust("6 days")
    expect(yield* invitations.inspect(first.secret)).toMatchObject({
      workspace: { handle: "acme", displayName: "Acme" },
      role: "member",
      invitedBy: "owner",
      signUp: true
    })
    yield* TestClock.adjust("1 day")
    expect(yield* code(invitations.inspect(first.secret))).toBe("not_found")
    expect(yield* code(accept(of.ann, first.secret))).toBe("not_found")
    const second = yield* invite(of, of.owner, {})
    expect((yield* invitations.revoke(as(of.admin), scope, second.invitation.id)).status).toBe("revoked")
    expect((yield* invitations.revoke(as(of.admin), scope, second.invitation.id)).status).toBe("revoked")
    const stranger = { workspaceId: of.id, acting: { subject: of.bob } }
    expect(yield* code(invitations.revoke(as(of.bob), stranger, second.invitation.id))).toBe("permission_denied")
    const third = yield* invite(of, of.owner, {})
    expect((yield* invitations.decline(serviceContext, third.secret)).status).toBe("declined")
    const fourth = yield* invite(of, of.owner, {})
    yield* endInvitations
    for (const { secret } of [second, third, fourth]) expect(yield* code(accept(of.ann, secret))).toBe("not_found")
    const { items } = yield* invitations.list(of.id, of.owner, { limit: 10 })
    expect(items.map(({ status }) => status).toSorted()).toEqual([
      "accepted",
      "declined",
      "expired",
      "revoked",
      "revoked"
    ])
  }).pipe(fresh)
)

it.effect("when acceptances and withdrawals of an invitation race, exactly one wins", () =>
  Effect.gen(function* () {
    const of = yield* setting
    const invitations = yield* Invitations
    const race = yield* invite(of, of.owner, {})
    const codes = yield* Effect.forEach([of.ann, of.bob], (who) => code(accept(who, race.secret)), {
      concurrency: "unbounded"
    })
    expect(codes.toSorted()).toEqual(["not_found", "ok"])
    const carl = (yield* newPerson("carl")).subject
    const { invitation, secret } = yield* invite(of, of.owner, {})
    const scope = { workspaceId: of.id, acting: { subject: of.owner } }
    const [accepted, revoked] = yield* Effect.all(
      [code(accept(carl, secret)), invitations.revoke(as(of.owner), scope, invitation.id)],
      { concurrency: "unbounded" }
    )
    expect([accepted, revoked.status]).toBeOneOf([
      ["ok", "accepted"],
      ["not_found", "revoked"]
    ])
    expect((yield* roleOf(of, carl)) === "member").toBe(accepted === "ok")
  }).pipe(fresh)
)

it.effect(
  "a removed member cannot return with an old link, and an existing member who opens a link does not use it up",
  () =>
    Effect.gen(function* () {
      const of = yield* setting
      const members = yield* Members
      const scope = { workspaceId: of.id, acting: { subject: of.owner } }
      yield* joinWorkspace(of.owner, of.id, of.bob)
      const { secret } = yield* invite(of, of.owner, {})
      expect(yield* code(accept(of.bob, secret))).toBe("failed_precondition")
      yield* TestClock.adjust("1 minute")
      yield* members.remove(as(of.owner), scope, of.bob)
      expect(yield* code(accept(of.bob, secret))).toBe("failed_precondition")
      yield* TestClock.adjust("1 minute")
      yield* joinWorkspace(of.owner, of.id, of.bob, "viewer")
      expect(yield* roleOf(of, of.bob)).toBe("viewer")
      expect(yield* code(accept(of.ann, secret))).toBe("ok")
    }).pipe(fresh)
)

it.effect("inviting a person again invalidates the earlier link, and an active member cannot be invited", () =>
  Effect.gen(function* () {
    const of = yield* setting
    const members = yield* Members
    const first = yield* invite(of, of.owner, { email: "ann@example.com" })
    const second = yield* invite(of, of.owner, { email: "ann@example.com", role: "viewer" })
    expect(yield* code(accept(of.ann, first.secret))).toBe("not_found")
    expect((yield* members.list(of.id, of.owner, { limit: 9 })).items.map(({ status }) => status).toSorted()).toEqual([
      "active",
      "active",
      "invited"
    ])
    yield* accept(of.ann, second.secret)
    expect(yield* code(invite(of, of.owner, { email: "ann@example.com" }))).toBe("failed_precondition")
    expect(yield* code(invite(of, of.owner, { subject: of.ann }))).toBe("failed_precondition")
    expect((yield* members.list(of.id, of.owner, { limit: 9 })).items.every(({ status }) => status === "active")).toBe(
      true
    )
  }).pipe(fresh)
)

it.effect("an invited person's placeholder subject can only be used to withdraw the invitation", () =>
  Effect.gen(function* () {
    const of = yield* setting
    const members = yield* Members
    const acting = (subject: string) => ({ workspaceId: of.id, acting: { subject } })
    const { member, secret } = yield* invite(of, of.owner, { email: "ann@example.com" })
    const standIn = member?.subject ?? ""
    expect(yield* code(members.update(as(of.owner), acting(of.owner), standIn, { role: "viewer" }))).toBe(
      "failed_precondition"
    )
    yield* joinWorkspace(of.owner, of.id, of.bob)
    expect(yield* code(members.remove(as(of.bob), acting(of.bob), standIn))).toBe("permission_denied")
    expect(yield* code(members.remove(as(of.admin), acting(of.admin), standIn))).toBe("ok")
    expect(yield* code(accept(of.ann, secret))).toBe("not_found")
    expect(yield* code(members.remove(as(of.admin), acting(of.admin), standIn))).toBe("not_found")
  }).pipe(fresh)
)

it.effect("an archived Workspace can neither send nor accept invitations", () =>
  Effect.gen(function* () {
    const of = yield* setting
    const workspaces = yield* Workspaces
    const { secret } = yield* invite(of, of.owner, {})
    yield* workspaces.update(as(of.owner), of.owner, of.id, { archived: true })
    expect(yield* code(invite(of, of.owner, {}))).toBe("failed_precondition")
    expect(yield* code(accept(of.ann, secret))).toBe("failed_precondition")
    expect(yield* roleOf(of, of.ann)).toBeNull()
  }).pipe(fresh)
)

it.effect(
  "an owner's link makes a person a member at once, and grants the offered role once an owner confirms it",
  () =>
    Effect.gen(function* () {
      const of = yield* setting
      const members = yield* Members
      const invitations = yield* Invitations
      const scope = { workspaceId: of.id, acting: { subject: of.owner } }
      const { secret } = yield* invite(of, of.owner, { role: "admin" })
      expect(yield* invitations.inspect(secret)).toMatchObject({ role: "member", offeredRole: "admin" })
      yield* accept(of.bob, secret)
      const bob = Effect.map(members.list(of.id, of.owner, { limit: 50 }), ({ items }) =>
        items.find(({ subject }) => subject === of.bob)
      )
      expect(yield* bob).toMatchObject({ role: "member", offeredRole: "admin", status: "active" })
      // Neither the member nor an admin can confirm or dismiss the role that was offered.
      for (const acting of [of.bob, of.admin])
        for (const role of ["admin", "member"] as const)
          expect(
            yield* code(
              members.update(as(acting), { workspaceId: of.id, acting: { subject: acting } }, of.bob, { role })
            )
          ).toBe("permission_denied")
      yield* members.update(as(of.owner), scope, of.bob, { role: "admin" })
      const confirmed = yield* bob
      expect([confirmed?.role, confirmed?.offeredRole]).toEqual(["admin", undefined])
    }).pipe(fresh)
)

it.effect("an owner can dismiss an offered role, and removing the member ends the offer", () =>
  Effect.gen(function* () {
    const of = yield* setting
    const members = yield* Members
    const scope = { workspaceId: of.id, acting: { subject: of.owner } }
    const { secret } = yield* invite(of, of.owner, { role: "owner" })
    yield* accept(of.bob, secret)
    const offered = yield* invite(of, of.owner, { role: "admin" })
    yield* accept(of.ann, offered.secret)
    const dismissed = yield* members.update(as(of.owner), scope, of.bob, { role: "member" })
    expect([dismissed.role, dismissed.offeredRole]).toEqual(["member", undefined])
    yield* members.remove(as(of.owner), scope, of.ann)
    const back = yield* members.update(as(of.owner), scope, of.ann, { status: "active" })
    expect([back.role, back.offeredRole]).toEqual(["member", undefined])
  }).pipe(fresh)
)
