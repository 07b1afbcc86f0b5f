import type { Redacted } from "effect"
import { Effect, Layer, Option, Result } from "effect"
import { Users } from "../../../../../actors/access/account/Users.ts"
import { InvitationAcceptance } from "../../../../../actors/access/member/InvitationAcceptance.ts"
import { Invitations, type NewInvitation } from "../../../../../actors/access/member/Invitations.ts"
import { Memberships } from "../../../../../actors/ledger/workspace/Memberships.ts"
import { as, joinWorkspace, newPerson, newWorkspace, testAccounts } from "../../../../support/Accounts.ts"

export const fresh = Effect.provide(Layer.fresh(testAccounts))

/** A Workspace with an owner and an admin, and an outsider whose address the operator verified. */
export const setting = Effect.gen(function* () {
  const users = yield* Users
  const owner = (yield* newPerson("owner")).subject
  const { id } = yield* newWorkspace(owner, { handle: "acme", displayName: "Acme" })
  const admin = (yield* newPerson("admin")).subject
  yield* joinWorkspace(owner, id, admin, "admin")
  const ann = (yield* newPerson("ann")).subject
  yield* users.proveAddress(ann, "ann@example.com", "operator")
  return { id, owner, admin, ann, bob: (yield* newPerson("bob")).subject }
})
type Setting = Effect.Success<typeof setting>

export const invite = (of: Setting, inviter: string, request: NewInvitation) =>
  Effect.flatMap(Invitations, (invitations) =>
    invitations.create(as(inviter), { workspaceId: of.id, acting: { subject: inviter } }, request)
  )
export const accept = (subject: string, secret: Redacted.Redacted) =>
  Effect.flatMap(InvitationAcceptance, (acceptance) => acceptance.accept(as(subject), subject, secret))
export const code = <A, E extends { readonly code: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.result(effect), (outcome) => (Result.isFailure(outcome) ? outcome.failure.code : "ok"))
export const roleOf = (of: Setting, subject: string) =>
  Effect.flatMap(Memberships, (memberships) => Effect.map(memberships.role(subject, of.id), Option.getOrNull))
