import { Effect, Layer, Redacted } from "effect"
import { Users } from "../../actors/access/account/Users.ts"
import { InvitationAcceptance } from "../../actors/access/member/InvitationAcceptance.ts"
import { Invitations } from "../../actors/access/member/Invitations.ts"
import type { WorkspaceId } from "../../schema/records/Ids.ts"
import type { Role } from "../../schema/records/Workspace.ts"
import { serviceContext } from "../../schema/commands/Command.ts"
import { type NewWorkspace, Workspaces } from "../../actors/ledger/workspace/Workspaces.ts"
import { accountServices } from "../../src/accounts/AccountServices.ts"
import { testFoundation } from "./Actors.ts"

/** Accounts and Workspaces in a temporary data folder. */
export const testAccounts = accountServices.pipe(Layer.provideMerge(testFoundation))

/** Returns the context of a person acting on their own behalf. */
export const as = (subject: string) => ({ actor: { kind: "user" as const, subject }, actorKey: subject })

/** Creates a person without a password. */
export const newPerson = Effect.fnUntraced(function* (name: string) {
  const users = yield* Users
  return yield* users.create(serviceContext, { email: `${name}@example.com`, displayName: name, isOperator: false })
})

export const newWorkspace = Effect.fnUntraced(function* (owner: string, request: NewWorkspace) {
  const workspaces = yield* Workspaces
  return yield* workspaces.create(as(owner), owner, request)
})

export const text = (secret: Redacted.Redacted) => Redacted.value(secret)

/** Adds a member in the same way as in production: an owner invites the person, who accepts. */
export const joinWorkspace = Effect.fnUntraced(function* (
  owner: string,
  workspaceId: WorkspaceId,
  subject: string,
  role: Role = "member"
) {
  const invitations = yield* Invitations
  const acceptance = yield* InvitationAcceptance
  const scope = { workspaceId, acting: { subject: owner } }
  const { secret } = yield* invitations.create(as(owner), scope, { subject, role })
  return yield* acceptance.accept(as(subject), subject, secret)
})
