import { expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AccessTokens } from "../../../../actors/access/account/AccessTokens.ts"
import { Accounts } from "../../../../actors/access/account/Accounts.ts"
import { Sessions } from "../../../../actors/access/account/Sessions.ts"
import { Users } from "../../../../actors/access/account/Users.ts"
import { serviceContext } from "../../../../schema/commands/Command.ts"
import { AccountRemoval } from "../../../../actors/access/member/AccountRemoval.ts"
import { Members } from "../../../../actors/access/member/Members.ts"
import { Memberships } from "../../../../actors/ledger/workspace/Memberships.ts"
import { as, joinWorkspace, newPerson, newWorkspace, testAccounts } from "../../../support/Accounts.ts"
import { it } from "../../../support/Effect.ts"

const fresh = Effect.provide(Layer.fresh(testAccounts))

it.effect("a deleted account loses all access and memberships, and its address can be used again", () =>
  Effect.gen(function* () {
    const removal = yield* AccountRemoval
    const users = yield* Users
    const sql = yield* SqlClient.SqlClient
    const ada = yield* newPerson("ada")
    const bob = yield* newPerson("bob")
    const { id } = yield* newWorkspace(ada.subject, { handle: "acme" })
    yield* joinWorkspace(ada.subject, id, bob.subject, "admin")
    yield* users.setPassword(serviceContext, bob.subject, "hash")
    const { secret } = yield* (yield* Sessions).open({ subject: bob.subject, method: "password" })
    const token = yield* (yield* AccessTokens).create(as(bob.subject), bob.subject, { name: "t", scopes: ["read"] })
    yield* removal.remove(serviceContext, bob.subject)
    const accounts = yield* Accounts
    expect((yield* Effect.flip(accounts.authenticateSession(secret))).code).toBe("unauthenticated")
    expect((yield* Effect.flip(accounts.authenticateBearer(token.secret))).code).toBe("invalid_token")
    expect((yield* (yield* Memberships).role(bob.subject, id))._tag).toBe("None")
    expect(yield* sql`SELECT subject FROM user_passwords WHERE subject = ${bob.subject}`).toEqual([])
    const [row] = yield* sql`SELECT email, display_name, status FROM users WHERE subject = ${bob.subject}`
    expect(row).toEqual({ email: `${bob.subject}@deleted.invalid`, display_name: null, status: "deleted" })
    expect((yield* users.list).map(({ subject }) => subject)).toEqual([ada.subject])
    expect((yield* Effect.flip(removal.remove(serviceContext, bob.subject))).code).toBe("not_found")
    // A new account with the same address belongs to somebody else and inherits nothing.
    const again = yield* newPerson("bob")
    expect(again.subject).not.toBe(bob.subject)
  }).pipe(fresh)
)

it.effect("the last owner of a Workspace cannot be deleted until the Workspace has another owner", () =>
  Effect.gen(function* () {
    const removal = yield* AccountRemoval
    const users = yield* Users
    const ada = yield* newPerson("ada")
    const bob = yield* newPerson("bob")
    const { id } = yield* newWorkspace(ada.subject, { handle: "acme" })
    yield* joinWorkspace(ada.subject, id, bob.subject, "admin")
    const refused = yield* Effect.flip(removal.remove(serviceContext, ada.subject))
    expect([refused.code, refused.message]).toEqual(["failed_precondition", expect.stringContaining("acme")])
    const members = yield* Members
    yield* members.update(as(ada.subject), { workspaceId: id, acting: { subject: ada.subject } }, bob.subject, {
      role: "owner"
    })
    // A locked owner does not count as an owner.
    yield* users.setStatus(serviceContext, bob.subject, "disabled")
    expect((yield* Effect.flip(removal.remove(serviceContext, ada.subject))).code).toBe("failed_precondition")
    yield* users.setStatus(serviceContext, bob.subject, "active")
    yield* removal.remove(serviceContext, ada.subject)
    expect((yield* (yield* Memberships).role(bob.subject, id))._tag).toBe("Some")
  }).pipe(fresh)
)
