import { describe, expect } from "bun:test"
import { Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { Users } from "../../../../actors/access/account/Users.ts"
import { serviceContext } from "../../../../schema/commands/Command.ts"
import { Invitations } from "../../../../actors/access/member/Invitations.ts"
import { migrate } from "../../../../src/database/Migrations.ts"
import { as, newPerson, newWorkspace, testAccounts } from "../../../support/Accounts.ts"
import { it } from "../../../support/Effect.ts"

const browsers = "bob@xn--bcher-kva.example"
const typed = "Bob@b\u00fccher.example"
const earlier = "bob@b\u00fccher.example"

const found = Effect.fnUntraced(function* (address: string) {
  const users = yield* Users
  return Option.getOrUndefined(Option.map(yield* users.findByEmail(address), ({ subject }) => subject))
})

/** Stores the address as earlier releases did, with its domain exactly as typed. */
const storeEarlier = Effect.fnUntraced(function* (subject: string, address: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE users SET email = ${address} WHERE subject = ${subject}`
})

describe("Address spelling", () => {
  it.effect("all spellings of an address with an international domain belong to the same account", () =>
    Effect.gen(function* () {
      const users = yield* Users
      const bob = yield* users.create(serviceContext, { email: typed, isOperator: false })
      expect(bob.email).toBe(browsers)
      for (const address of [browsers, typed, earlier]) expect(yield* found(address)).toBe(bob.subject)
      const again = yield* Effect.flip(users.create(serviceContext, { email: browsers, isOperator: false }))
      expect(again.code).toBe("failed_precondition")
    }).pipe(Effect.provide(testAccounts))
  )

  it.effect(
    "startup converts addresses from an earlier release in accounts, identities, links and invitations to the current spelling",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const bob = yield* newPerson("bob")
        const { id: workspaceId } = yield* newWorkspace(bob.subject, { handle: "acme", displayName: "Acme" })
        const invitations = yield* Invitations
        const scope = { workspaceId, acting: { subject: bob.subject } }
        yield* invitations.create(as(bob.subject), scope, { email: "x@example.com", role: "viewer" })
        const at = "1970-01-01T00:00:00.000Z"
        yield* sql`INSERT INTO upstream_identities (issuer, upstream_subject, subject, verified_email, created_at, last_used_at)
        VALUES ('https://id.example.com', 'b', ${bob.subject}, ${earlier}, ${at}, ${at})`
        yield* sql`INSERT INTO address_changes (id, secret_hash, subject, email, proof, created_at, expires_at)
        VALUES ('adr_a', 'h', ${bob.subject}, ${earlier}, 'mail', ${at}, ${at})`
        yield* sql`UPDATE invitations SET email = ${earlier}`
        yield* storeEarlier(bob.subject, earlier)
        yield* migrate
        const stored = yield* sql`SELECT email FROM users UNION ALL SELECT verified_email FROM upstream_identities
        UNION ALL SELECT email FROM address_changes UNION ALL SELECT email FROM invitations`
        expect(stored).toEqual(Array.from({ length: 4 }, () => ({ email: browsers })))
        expect(yield* found(browsers)).toBe(bob.subject)
      }).pipe(Effect.provide(testAccounts))
  )

  it.effect(
    "an address keeps its earlier spelling if another account already has the current spelling, and lookups find both accounts",
    () =>
      Effect.gen(function* () {
        const users = yield* Users
        const bob = yield* newPerson("bob")
        const other = yield* users.create(serviceContext, { email: browsers, isOperator: false })
        yield* storeEarlier(bob.subject, earlier)
        yield* migrate
        expect([yield* found(typed), yield* found(browsers)]).toEqual([bob.subject, other.subject])
      }).pipe(Effect.provide(testAccounts))
  )

  it.effect(
    "svc finds an account whose address has the spelling of an earlier release, even if no mail server accepts it",
    () =>
      Effect.gen(function* () {
        const bob = yield* newPerson("bob")
        yield* storeEarlier(bob.subject, "bob@ex_ample.com")
        yield* migrate
        expect(yield* found("Bob@ex_ample.com")).toBe(bob.subject)
      }).pipe(Effect.provide(testAccounts))
  )
})
