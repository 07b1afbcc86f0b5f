import { describe, expect } from "bun:test"
import { Effect, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { AddressChanges } from "../../../../actors/access/account/AddressChanges.ts"
import { SetupLinks } from "../../../../actors/access/account/SetupLinks.ts"
import { Users } from "../../../../actors/access/account/Users.ts"
import { AccountCommands } from "../../../../src/operator/AccountCommands.ts"
import { as, newPerson, testAccounts, text } from "../../../support/Accounts.ts"
import { it } from "../../../support/Effect.ts"
import { deliver, layer, post } from "./support/Post.ts"

const password = Redacted.make("correct horse battery")
const setupSecret = () => /\/setup#(\S+)/.exec(post.sent[0]?.text ?? "")?.[1] ?? ""
const proofOf = Effect.fnUntraced(function* (name: string) {
  return Option.getOrThrow(yield* (yield* Users).findByEmail(`${name}@example.com`)).emailProof
})

describe("Address links", () => {
  it.effect(
    "an address change emails a link to the new address, verifies the new address, and notifies the previous address",
    () =>
      Effect.gen(function* () {
        const users = yield* Users
        const changes = yield* AddressChanges
        const ann = yield* newPerson("ann")
        const bob = yield* newPerson("bob")
        yield* users.proveAddress(ann.subject, ann.email, "operator")
        yield* changes.mail(ann.subject, "Ann@new.example")
        yield* changes.mail(bob.subject, "bob@new.example")
        yield* deliver
        expect(post.sent.map(({ to }) => to).toSorted()).toEqual(["ann@new.example", "bob@new.example"])
        const secretFor = (address: string) =>
          Redacted.make(
            /https:\/\/svc\.example\.com\/account\/address#(\S+)/.exec(
              post.sent.find(({ to }) => to === address)?.text ?? ""
            )?.[1] ?? ""
          )
        yield* changes.redeem(as(ann.subject), ann.subject, secretFor("ann@new.example"))
        yield* changes.redeem(as(bob.subject), bob.subject, secretFor("bob@new.example"))
        expect(Option.getOrThrow(yield* users.find(ann.subject))).toMatchObject({
          email: "ann@new.example",
          emailProof: "mail"
        })
        yield* deliver
        // Bob's previous address had never been verified.
        expect(post.sent.slice(2).map(({ to, text: body }) => [to, body.split("\n")[0]])).toEqual([
          [ann.email, expect.stringContaining("The e-mail address was changed.")]
        ])
      }).pipe(Effect.provide(layer))
  )

  it.effect("an address-change link remains valid if the next link cannot be emailed", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const changes = yield* AddressChanges
      const ann = yield* newPerson("ann")
      for (let n = 0; n < 10; n++) yield* changes.mail(ann.subject, "ann@new.example")
      const before = yield* sql`SELECT * FROM address_changes`
      expect((yield* Effect.flip(changes.mail(ann.subject, "ann@new.example"))).code).toBe("rate_limited")
      expect(yield* sql`SELECT * FROM address_changes`).toEqual(before)
    }).pipe(Effect.provide(layer))
  )
})

describe("Password links", () => {
  it.effect("a password link that the operator hands over does not verify an address", () =>
    Effect.gen(function* () {
      const links = yield* SetupLinks
      const ann = yield* newPerson("ann")
      const { mailed, secret } = yield* links.issueReset(ann.subject, true)
      expect(mailed).toBe(true)
      yield* links.redeem({ secret, password })
      expect(yield* proofOf("ann")).toBeNull()
      yield* deliver
      // Bob has no verified address, so no notice about the new password is sent.
      expect(post.sent.map(({ to }) => to)).toEqual([ann.email])
      const mine = Redacted.make(setupSecret())
      expect((yield* Effect.flip(links.redeem({ secret: mine, password }))).code).toBe("not_found")
    }).pipe(Effect.provide(layer))
  )

  it.effect("an operator can have svc mail a password link, and no link is issued if the mail fails", () =>
    Effect.gen(function* () {
      const commands = yield* AccountCommands
      yield* newPerson("ann")
      expect((yield* commands.resetLink({ email: "ann@example.com" })).mailed).toBe(false)
      const { mailed, secret } = yield* commands.resetLink({ email: "Ann@example.com", mail: true })
      yield* deliver
      expect([mailed, post.sent.map(({ to }) => to)]).toEqual([true, ["ann@example.com"]])
      // The operator receives a separate link, which does not verify the address.
      const mine = setupSecret()
      expect(mine).not.toBe(text(secret))
      const links = yield* SetupLinks
      expect(yield* links.inspect(Redacted.make(mine))).toMatchObject({ purpose: "recovery", email: "ann@example.com" })
      yield* links.redeem({ secret: Redacted.make(mine), password })
      expect(yield* proofOf("ann")).toBe("mail")
      for (const link of [secret, Redacted.make(mine)]) {
        expect(yield* links.inspect(link)).toEqual({ state: "used", purpose: "recovery" })
        expect((yield* Effect.flip(links.redeem({ secret: link, password }))).code).toBe("not_found")
      }
    }).pipe(
      Effect.provide(AccountCommands.layer(undefined).pipe(Layer.provideMerge(layer))),
      Effect.andThen(
        Effect.gen(function* () {
          const commands = yield* AccountCommands
          const sql = yield* SqlClient.SqlClient
          yield* newPerson("ann")
          const refused = yield* Effect.flip(commands.resetLink({ email: "ann@example.com", mail: true }))
          expect(refused.code).toBe("failed_precondition")
          expect(yield* sql`SELECT 1 FROM setup_links`).toEqual([])
        }).pipe(Effect.provide(AccountCommands.layer(undefined).pipe(Layer.provideMerge(testAccounts))))
      )
    )
  )
})
