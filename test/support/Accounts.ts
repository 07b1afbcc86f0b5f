import { Effect, Layer, Redacted } from "effect"
import { Users } from "../../actors/account/Users.ts"
import { serviceContext } from "../../actors/Command.ts"
import { type NewWorkspace, Workspaces } from "../../actors/workspace/Workspaces.ts"
import { accountServices } from "../../src/accounts/AccountServices.ts"
import { testFoundation } from "./Actors.ts"

/** Accounts and Workspaces over a temporary data folder. */
export const testAccounts = accountServices.pipe(Layer.provideMerge(testFoundation))

/** The context of a person acting for themselves. */
export const as = (subject: string) => ({ actor: { kind: "user" as const, subject }, actorKey: subject })

/** A person without a password. */
export const newPerson = Effect.fnUntraced(function* (name: string) {
  const users = yield* Users
  return yield* users.create(serviceContext, { email: `${name}@example.com`, displayName: name, isOperator: false })
})

export const newWorkspace = Effect.fnUntraced(function* (owner: string, request: NewWorkspace) {
  const workspaces = yield* Workspaces
  return yield* workspaces.create(as(owner), owner, request)
})

export const text = (secret: Redacted.Redacted) => Redacted.value(secret)
