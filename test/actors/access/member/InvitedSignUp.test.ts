import { expect } from "bun:test"
import { Effect, Option, Redacted } from "effect"
import { Users } from "../../../../actors/access/account/Users.ts"
import { serviceContext } from "../../../../schema/commands/Command.ts"
import { Invitations } from "../../../../actors/access/member/Invitations.ts"
import { InvitedSignUp } from "../../../../actors/access/member/InvitedSignUp.ts"
import { Members } from "../../../../actors/access/member/Members.ts"
import { as } from "../../../support/Accounts.ts"
import { it } from "../../../support/Effect.ts"
import { fresh, setting, invite, accept, code, roleOf } from "./support/InvitedWorkspace.ts"

const password = Redacted.make("a password of somebody new")

it.effect("an open link creates one account with an unverified address, which becomes a member at once", () =>
  Effect.gen(function* () {
    const of = yield* setting
    const users = yield* Users
    const signUp = yield* InvitedSignUp
    const { secret } = yield* invite(of, of.owner, { role: "viewer" })
    const taken = yield* Effect.flip(signUp.withPassword({ secret, password, email: "ann@example.com" }))
    expect([taken.code, /exist|taken/.test(taken.message)]).toEqual(["failed_precondition", false])
    const { subject } = yield* signUp.withPassword({ secret, password, email: "Eve@example.com", displayName: "Eve" })
    expect(Option.getOrNull(yield* users.find(subject))).toMatchObject({
      email: "eve@example.com",
      displayName: "Eve",
      emailProof: null,
      isOperator: false
    })
    expect(yield* roleOf(of, subject)).toBe("viewer")
    expect(yield* code(signUp.withPassword({ secret, password, email: "more@example.com" }))).toBe("not_found")
    expect(Option.isNone(yield* users.findByEmail("more@example.com"))).toBe(true)
  }).pipe(fresh)
)

it.effect("an invitation to an unverified address creates no account, but the operator's link does", () =>
  Effect.gen(function* () {
    const of = yield* setting
    const users = yield* Users
    const signUp = yield* InvitedSignUp
    const invitations = yield* Invitations
    const shown = yield* invite(of, of.owner, { email: "eve@example.com", role: "admin" })
    const party = { id: "localhost", origin: "http://localhost", name: "svc" }
    expect(yield* code(signUp.withPassword({ secret: shown.secret, password }))).toBe("permission_denied")
    // svc rejects the request before the passkey ceremony, so that the browser does not create a passkey that cannot be used.
    expect(yield* code(signUp.passkeyOptions(party, { secret: shown.secret }))).toBe("permission_denied")
    const scope = { workspaceId: of.id, acting: "operator" as const }
    const vouched = yield* invitations.create(serviceContext, scope, { email: "eve@example.com", role: "owner" })
    const made = yield* signUp.withPassword({ secret: vouched.secret, password, email: "mallory@example.com" })
    expect(Option.getOrNull(yield* users.find(made.subject))).toMatchObject({
      email: "eve@example.com",
      emailProof: "operator"
    })
    expect(yield* roleOf(of, made.subject)).toBe("owner")
  }).pipe(fresh)
)

it.effect(
  "the operator can invite a person to the server without a Workspace, and an expired invitation creates no account",
  () =>
    Effect.gen(function* () {
      const of = yield* setting
      const users = yield* Users
      const members = yield* Members
      const signUp = yield* InvitedSignUp
      const invitations = yield* Invitations
      const server = yield* invitations.create(serviceContext, { acting: "operator" }, {})
      expect(yield* code(accept(of.ann, server.secret))).toBe("failed_precondition")
      const { subject } = yield* signUp.withPassword({ secret: server.secret, password, email: "eve@example.com" })
      expect(yield* roleOf(of, subject)).toBeNull()
      const person = { acting: { subject: of.owner } }
      expect(yield* code(invitations.create(as(of.owner), person, {}))).toBe("invalid_request")
      const { secret } = yield* invite(of, of.admin, {})
      yield* members.remove(as(of.owner), { workspaceId: of.id, ...person }, of.admin)
      expect(yield* code(signUp.withPassword({ secret, password, email: "fay@example.com" }))).toBe(
        "failed_precondition"
      )
      expect(Option.isNone(yield* users.findByEmail("fay@example.com"))).toBe(true)
    }).pipe(fresh)
)
