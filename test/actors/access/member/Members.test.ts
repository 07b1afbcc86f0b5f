import { expect } from "bun:test"
import { Effect, Layer, Option, Result } from "effect"
import { SqlClient } from "effect/sql"
import { Users } from "../../../../actors/access/account/Users.ts"
import { Audit } from "../../../../actors/base/audit/Audit.ts"
import { serviceContext } from "../../../../schema/commands/Command.ts"
import { type MemberChange, Members } from "../../../../actors/access/member/Members.ts"
import { Memberships } from "../../../../actors/ledger/workspace/Memberships.ts"
import type { Role } from "../../../../schema/records/Workspace.ts"
import { as, joinWorkspace, newPerson, newWorkspace, testAccounts } from "../../../support/Accounts.ts"
import { it } from "../../../support/Effect.ts"
import type { WorkspaceId } from "../../../../schema/records/Ids.ts"

const fresh = Effect.provide(Layer.fresh(testAccounts))

/** A Workspace with one person in each role, and a person outside the Workspace. */
const team = Effect.gen(function* () {
  const owner = (yield* newPerson("owner")).subject
  const { id } = yield* newWorkspace(owner, { handle: "acme" })
  const join = Effect.fnUntraced(function* (name: string, role: Role) {
    const { subject } = yield* newPerson(name)
    yield* joinWorkspace(owner, id, subject, role)
    return subject
  })
  return {
    id,
    owner,
    admin: yield* join("admin", "admin"),
    member: yield* join("member", "member"),
    viewer: yield* join("viewer", "viewer"),
    outsider: (yield* newPerson("outsider")).subject
  }
})
type Team = Effect.Success<typeof team>

const update = (of: Team, acting: string, subject: string, change: MemberChange) =>
  Effect.flatMap(Members, (members) =>
    members.update(as(acting), { workspaceId: of.id, acting: { subject: acting } }, subject, change)
  )
const remove = (of: Team, acting: string, subject: string) =>
  Effect.flatMap(Members, (members) =>
    members.remove(as(acting), { workspaceId: of.id, acting: { subject: acting } }, subject)
  )
const handOver = (of: Team, acting: string, to: string) =>
  Effect.flatMap(Members, (members) =>
    members.handOver(as(acting), { workspaceId: of.id, acting: { subject: acting } }, to)
  )
const code = <A, E extends { readonly code: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.result(effect), (outcome) => (Result.isFailure(outcome) ? outcome.failure.code : "ok"))

it.effect("members with lower roles and people outside the Workspace cannot change anything", () =>
  Effect.gen(function* () {
    const of = yield* team
    for (const acting of [of.member, of.viewer, of.outsider]) {
      expect(yield* code(update(of, acting, acting, { role: "owner" }))).not.toBe("ok")
      expect(yield* code(update(of, acting, of.admin, { status: "suspended" }))).toBe("permission_denied")
      expect(yield* code(remove(of, acting, of.admin))).toBe("permission_denied")
      expect(yield* code(handOver(of, acting, of.member))).toBe("permission_denied")
    }
  }).pipe(fresh)
)

it.effect("only owners can change roles or modify an owner's membership", () =>
  Effect.gen(function* () {
    const of = yield* team
    expect(yield* code(update(of, of.admin, of.viewer, { role: "member" }))).toBe("permission_denied")
    expect(yield* code(update(of, of.admin, of.admin, { role: "owner" }))).toBe("permission_denied")
    expect(yield* code(update(of, of.admin, of.owner, { status: "suspended" }))).toBe("permission_denied")
    expect(yield* code(remove(of, of.admin, of.owner))).toBe("permission_denied")
    // Setting the role to its current value is not a change, so svc accepts the request.
    expect(yield* code(update(of, of.admin, of.viewer, { role: "viewer", status: "suspended" }))).toBe("ok")
    expect((yield* update(of, of.owner, of.member, { role: "owner" })).role).toBe("owner")
  }).pipe(fresh)
)

it.effect("the last owner cannot be demoted, suspended or removed", () =>
  Effect.gen(function* () {
    const of = yield* team
    const users = yield* Users
    expect(yield* code(update(of, of.owner, of.owner, { role: "admin" }))).toBe("failed_precondition")
    expect(yield* code(update(of, of.owner, of.owner, { status: "suspended" }))).toBe("failed_precondition")
    expect(yield* code(remove(of, of.owner, of.owner))).toBe("failed_precondition")
    yield* update(of, of.owner, of.admin, { role: "owner" })
    // A locked account cannot act, so it does not count as a second owner.
    yield* users.setStatus(serviceContext, of.admin, "disabled")
    expect(yield* code(remove(of, of.owner, of.owner))).toBe("failed_precondition")
    yield* users.setStatus(serviceContext, of.admin, "active")
    expect(yield* code(remove(of, of.owner, of.owner))).toBe("ok")
    expect(yield* code(remove(of, of.admin, of.admin))).toBe("failed_precondition")
  }).pipe(fresh)
)

it.effect("two owners cannot both leave at the same moment", () =>
  Effect.gen(function* () {
    const of = yield* team
    yield* update(of, of.owner, of.admin, { role: "owner" })
    const codes = yield* Effect.forEach([of.owner, of.admin], (who) => code(remove(of, who, who)), {
      concurrency: "unbounded"
    })
    expect(codes.toSorted()).toEqual(["failed_precondition", "ok"])
  }).pipe(fresh)
)

it.effect("removing a member immediately revokes the role and stops the member's running requests", () =>
  Effect.gen(function* () {
    const of = yield* team
    const memberships = yield* Memberships
    const sql = yield* SqlClient.SqlClient
    yield* remove(of, of.owner, of.admin)
    expect(Option.isNone(yield* memberships.role(of.admin, of.id))).toBe(true)
    expect(yield* code(remove(of, of.admin, of.viewer))).toBe("permission_denied")
    expect(yield* sql`SELECT status FROM memberships WHERE subject = ${of.admin}`).toMatchObject([
      { status: "suspended" }
    ])
    // A new invitation lets the person return, with the role of that invitation.
    yield* joinWorkspace(of.owner, of.id, of.admin, "viewer")
    expect(Option.getOrNull(yield* memberships.role(of.admin, of.id))).toBe("viewer")
  }).pipe(fresh)
)

it.effect(
  "a role is valid only in its own Workspace, and only while both the membership and the account are active",
  () =>
    Effect.gen(function* () {
      const of = yield* team
      const memberships = yield* Memberships
      const users = yield* Users
      const other = yield* newWorkspace(of.outsider, { handle: "other" })
      const roleOf = (subject: string, id: WorkspaceId) => Effect.map(memberships.role(subject, id), Option.getOrNull)
      expect(yield* roleOf(of.viewer, of.id)).toBe("viewer")
      expect(yield* roleOf(of.viewer, other.id)).toBeNull()
      expect(yield* roleOf(of.outsider, of.id)).toBeNull()
      yield* users.setStatus(serviceContext, of.viewer, "disabled")
      expect(yield* roleOf(of.viewer, of.id)).toBeNull()
    }).pipe(fresh)
)

it.effect(
  "svc rejects a membership change that is empty, sets the status to invited, or targets an unknown member",
  () =>
    Effect.gen(function* () {
      const of = yield* team
      expect(yield* code(update(of, of.owner, of.viewer, {}))).toBe("invalid_request")
      expect(yield* code(update(of, of.owner, of.viewer, { status: "invited" }))).toBe("invalid_request")
      expect(yield* code(update(of, of.owner, of.outsider, { role: "admin" }))).toBe("not_found")
      expect(yield* code(remove(of, of.owner, of.outsider))).toBe("not_found")
    }).pipe(fresh)
)

it.effect("members are listed oldest first, including suspended members, and the history records each change", () =>
  Effect.gen(function* () {
    const of = yield* team
    const members = yield* Members
    const audit = yield* Audit
    yield* remove(of, of.owner, of.viewer)
    const first = yield* members.list(of.id, of.owner, { limit: 3 })
    const rest = yield* members.list(of.id, of.owner, { limit: 3, cursor: first.nextCursor })
    const all = [...first.items, ...rest.items]
    expect(all.map(({ subject }) => subject).toSorted()).toEqual([of.owner, of.admin, of.member, of.viewer].toSorted())
    expect(all.find(({ subject }) => subject === of.viewer)?.status).toBe("suspended")
    const { items } = yield* audit.list(of.id, of.owner, { action: "member.remove" }, { limit: 10 })
    expect(items).toMatchObject([{ actor: { kind: "user", subject: of.owner }, target: { id: of.viewer } }])
    expect((yield* audit.list(of.id, of.owner, { action: "invitation.accept" }, { limit: 10 })).items.length).toBe(3)
  }).pipe(fresh)
)

it.effect("anyone can leave a Workspace, and a person who has left can return only with a new invitation", () =>
  Effect.gen(function* () {
    const of = yield* team
    const memberships = yield* Memberships
    const audit = yield* Audit
    for (const who of [of.viewer, of.member, of.admin]) expect(yield* code(remove(of, who, who))).toBe("ok")
    expect(Option.isNone(yield* memberships.role(of.viewer, of.id))).toBe(true)
    const { items } = yield* audit.list(of.id, of.owner, { action: "member.leave" }, { limit: 10 })
    expect(items.length).toBe(3)
    expect(yield* code(update(of, of.owner, of.viewer, { status: "active" }))).toBe("failed_precondition")
    yield* joinWorkspace(of.owner, of.id, of.viewer, "member")
    expect(Option.getOrNull(yield* memberships.role(of.viewer, of.id))).toBe("member")
    // Another member can undo the suspension, because this person had accepted the invitation and has not left.
    yield* remove(of, of.owner, of.viewer)
    expect(yield* code(update(of, of.owner, of.viewer, { status: "active" }))).toBe("ok")
  }).pipe(fresh)
)

it.effect(
  "only an owner can transfer ownership, only to an active member, and the transfer takes effect immediately",
  () =>
    Effect.gen(function* () {
      const of = yield* team
      const users = yield* Users
      expect(yield* code(handOver(of, of.admin, of.admin))).toBe("permission_denied")
      expect(yield* code(handOver(of, of.owner, of.owner))).toBe("invalid_request")
      expect(yield* code(handOver(of, of.owner, of.outsider))).toBe("failed_precondition")
      yield* remove(of, of.owner, of.viewer)
      expect(yield* code(handOver(of, of.owner, of.viewer))).toBe("failed_precondition")
      yield* users.setStatus(serviceContext, of.admin, "disabled")
      expect(yield* code(handOver(of, of.owner, of.admin))).toBe("failed_precondition")
      expect(yield* handOver(of, of.owner, of.member)).toMatchObject({
        owner: { subject: of.member, role: "owner" },
        previousOwner: { subject: of.owner, role: "admin" }
      })
      expect(yield* code(handOver(of, of.owner, of.owner))).toBe("permission_denied")
      expect(yield* code(remove(of, of.owner, of.owner))).toBe("ok")
      expect(yield* code(remove(of, of.member, of.member))).toBe("failed_precondition")
    }).pipe(fresh)
)

it.effect("a Workspace always keeps an owner, even if the new owner leaves during the transfer", () =>
  Effect.gen(function* () {
    const of = yield* team
    const memberships = yield* Memberships
    yield* Effect.all([code(handOver(of, of.owner, of.member)), code(remove(of, of.member, of.member))], {
      concurrency: "unbounded"
    })
    const roles = yield* Effect.forEach([of.owner, of.member], (who) => memberships.role(who, of.id))
    expect(roles.map(Option.getOrNull)).toContain("owner")
  }).pipe(fresh)
)
