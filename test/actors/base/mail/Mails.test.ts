import { describe, expect, test } from "bun:test"
import { Effect, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient } from "effect/sql"
import { Users } from "../../../../actors/access/account/Users.ts"
import { retryAfterMillis } from "../../../../actors/base/mail/MailDelivery.ts"
import { Mails } from "../../../../actors/base/mail/Mails.ts"
import { AccountChange, mailText } from "../../../../actors/base/mail/MailTexts.ts"
import { MailNotSent } from "../../../../actors/base/mail/MailTransport.ts"
import { InvitationAcceptance } from "../../../../actors/access/member/InvitationAcceptance.ts"
import { Invitations } from "../../../../actors/access/member/Invitations.ts"
import { InvitedSignUp } from "../../../../actors/access/member/InvitedSignUp.ts"
import { as, newPerson, newWorkspace, testAccounts, text } from "../../../support/Accounts.ts"
import { it } from "../../../support/Effect.ts"
import { deliver, layer, post } from "./support/Post.ts"

const notice = { kind: "notice", change: "password", at: "2026-01-02T03:04:05.000Z", accountPage: "x" } as const

const world = Effect.gen(function* () {
  const olga = yield* newPerson("olga")
  const { id } = yield* newWorkspace(olga.subject, { handle: "acme", displayName: "Acme" })
  return { olga: olga.subject, workspaceId: id }
})

const invite = Effect.fnUntraced(function* (email: string | undefined) {
  const { olga, workspaceId } = yield* world
  const invitations = yield* Invitations
  const scope = { workspaceId, acting: { subject: olga } }
  const issued = yield* invitations.create(as(olga), scope, { email, role: email === undefined ? "member" : "admin" })
  return { ...issued, workspaceId }
})

const mailedSecret = () => /\/join#(\S+)/.exec(post.sent[0]?.text ?? "")?.[1] ?? ""

describe("Queued emails", () => {
  it.effect("a queued email is sent once, and its text is then erased", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const mails = yield* Mails
      expect(yield* mails.queue("ann@example.com", notice)).toBe(true)
      const [waiting] = yield* sql`SELECT content FROM mails`
      expect(waiting?.["content"]).toStartWith("v1.dk_")
      yield* deliver
      yield* deliver
      expect(post.sent.map(({ to }) => to)).toEqual(["ann@example.com"])
      expect(yield* sql`SELECT content, outcome FROM mails`).toEqual([{ content: null, outcome: "sent" }])
    }).pipe(Effect.provide(layer))
  )

  it.effect(
    "a queued email is retried at growing intervals while the mail server is down, and dropped after a day",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* (yield* Mails).queue("ann@example.com", notice)
        post.refusal = new MailNotSent({ permanent: false, code: "ECONNECTION" })
        yield* deliver
        yield* deliver
        expect(post.attempts).toBe(1)
        for (const [minutes, attempts] of [
          [1, 2],
          [4, 2],
          [1, 3]
        ] as const) {
          yield* TestClock.adjust(`${minutes} minutes`)
          yield* deliver
          expect([minutes, post.attempts]).toEqual([minutes, attempts])
        }
        yield* TestClock.adjust("24 hours")
        yield* deliver
        expect(post.attempts).toBe(3)
        expect(yield* sql`SELECT content, outcome FROM mails`).toEqual([{ content: null, outcome: "expired" }])
        yield* TestClock.adjust("25 hours")
        yield* deliver
        expect(yield* sql`SELECT 1 FROM mails`).toEqual([])
      }).pipe(Effect.provide(layer))
  )

  it.effect("a queued email arrives once the mail server is back, even if another email is rejected permanently", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const mails = yield* Mails
      yield* mails.queue("gone@example.com", notice)
      post.refusal = new MailNotSent({ permanent: true, code: "RCPT TO 550" })
      yield* deliver
      yield* mails.queue("ann@example.com", notice)
      post.refusal = new MailNotSent({ permanent: false, code: "ECONNECTION" })
      yield* deliver
      post.refusal = undefined
      yield* TestClock.adjust("1 minute")
      yield* deliver
      expect(post.sent.map(({ to }) => to)).toEqual(["ann@example.com"])
      expect(yield* sql`SELECT outcome FROM mails ORDER BY outcome`).toEqual([
        { outcome: "refused" },
        { outcome: "sent" }
      ])
    }).pipe(Effect.provide(layer))
  )

  it.effect("an email is not queued if its address received ten emails of the same kind within an hour", () =>
    Effect.gen(function* () {
      const mails = yield* Mails
      const reset = { kind: "reset_link", link: "x", expiresAt: "2099-01-01T00:00:00.000Z" } as const
      for (let n = 0; n < 10; n++) expect(yield* mails.queue("ann@example.com", reset)).toBe(true)
      expect(yield* mails.queue("ann@example.com", reset)).toBe(false)
      expect(yield* mails.queue("ann@example.com", notice)).toBe(true)
      expect(yield* mails.queue("bob@example.com", reset)).toBe(true)
      yield* TestClock.adjust("61 minutes")
      expect(yield* mails.queue("ann@example.com", reset)).toBe(true)
    }).pipe(Effect.provide(layer))
  )

  it.effect("an email is not queued if its transaction rolls back or no mail server is configured", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const mails = yield* Mails
      yield* sql
        .withTransaction(Effect.andThen(mails.queue("ann@example.com", notice), Effect.fail("undone" as const)))
        .pipe(Effect.ignore)
      expect(yield* sql`SELECT 1 FROM mails`).toEqual([])
    }).pipe(
      Effect.provide(layer),
      Effect.andThen(
        Effect.gen(function* () {
          expect(yield* (yield* Mails).queue("ann@example.com", notice)).toBe(false)
        }).pipe(Effect.provide(testAccounts))
      )
    )
  )
})

describe("Mailed invitations", () => {
  it.effect("an emailed invitation has a separate link, which verifies the address and can create an account", () =>
    Effect.gen(function* () {
      const { invitation, mailed, secret } = yield* invite("Ann@example.com")
      yield* deliver
      expect([mailed, post.sent[0]?.to]).toEqual([true, "ann@example.com"])
      expect(post.sent[0]?.text).toStartWith(
        'You are invited to a Workspace on Acme svc, as admin.\n\nWorkspace: "Acme"\nInvited by: "olga"\n'
      )
      expect(mailedSecret()).not.toBe(text(secret))
      const invitations = yield* Invitations
      const signUp = yield* InvitedSignUp
      // The inviter receives a separate link, which does not verify the address.
      expect((yield* invitations.inspect(secret)).signUp).toBe(false)
      expect((yield* invitations.inspect(Redacted.make(mailedSecret()))).signUp).toBe(true)
      const password = Redacted.make("correct horse battery")
      expect((yield* Effect.flip(signUp.withPassword({ secret, password }))).code).toBe("permission_denied")
      yield* signUp.withPassword({ secret: Redacted.make(mailedSecret()), password, email: "eve@example.com" })
      const user = Option.getOrThrow(yield* (yield* Users).findByEmail("ann@example.com"))
      expect([user.emailProof, invitation.email]).toEqual(["mail", "ann@example.com"])
      // Both links belong to the same invitation, so using one invalidates both.
      for (const link of [secret, Redacted.make(mailedSecret())]) {
        expect((yield* Effect.flip(invitations.inspect(link))).code).toBe("not_found")
      }
    }).pipe(Effect.provide(layer))
  )

  it.effect(
    "only the account with the invited address can accept an emailed invitation, even if that address was never verified",
    () =>
      Effect.gen(function* () {
        const { secret } = yield* invite("ann@example.com")
        yield* deliver
        const acceptance = yield* InvitationAcceptance
        const ann = yield* newPerson("ann")
        const eve = yield* newPerson("eve")
        const mailed = Redacted.make(mailedSecret())
        expect((yield* Effect.flip(acceptance.accept(as(eve.subject), eve.subject, mailed))).code).toBe(
          "permission_denied"
        )
        expect((yield* Effect.flip(acceptance.accept(as(ann.subject), ann.subject, secret))).code).toBe(
          "permission_denied"
        )
        expect((yield* acceptance.accept(as(ann.subject), ann.subject, mailed)).status).toBe("accepted")
        expect(Option.getOrThrow(yield* (yield* Users).find(ann.subject)).emailProof).toBe("mail")
      }).pipe(Effect.provide(layer))
  )

  it.effect("an invitation without an address sends no email and is not delayed by an unavailable mail server", () =>
    Effect.gen(function* () {
      const { mailed } = yield* invite(undefined)
      yield* deliver
      expect([mailed, post.sent.length]).toEqual([false, 0])
    }).pipe(Effect.provide(layer))
  )
})

describe("a notice", () => {
  it.effect("account notices are emailed only to the owner of a verified address", () =>
    Effect.gen(function* () {
      const users = yield* Users
      const ann = yield* newPerson("ann")
      const bob = yield* newPerson("bob")
      yield* users.proveAddress(ann.subject, ann.email, "operator")
      yield* users.setPassword(as(ann.subject), ann.subject, "hash")
      yield* users.setPassword(as(bob.subject), bob.subject, "hash")
      yield* deliver
      expect(post.sent.map(({ to }) => to)).toEqual(["ann@example.com"])
      expect(post.sent[0]?.text).toContain("The password was changed.")
      expect(post.sent[0]?.text).toContain("https://svc.example.com/account")
    }).pipe(Effect.provide(layer))
  )
})

test("the intervals between email attempts grow to an hour", () => {
  expect([1, 2, 3, 4, 5, 50].map((attempts) => retryAfterMillis(attempts) / 60_000)).toEqual([1, 5, 15, 60, 60, 60])
})

describe("Email texts", () => {
  const japanese = /[ぁ-んァ-ヶ一-龠]/
  const at = "2026-01-02T03:04:05.000Z"
  const link = "https://svc.example.com/join#svci_x"
  const mails = [
    { kind: "invitation", link, expiresAt: at, workspace: "Acme", role: "viewer", inviter: "Olga" },
    { kind: "invitation", link, expiresAt: at, workspace: "Acme" },
    { kind: "invitation", link, expiresAt: at },
    { kind: "reset_link", link, expiresAt: at },
    { kind: "address_link", link, expiresAt: at },
    ...AccountChange.literals.map((change) => ({ kind: "notice", change, at, accountPage: link }) as const)
  ] as const

  for (const [index, mail] of mails.entries()) {
    test(`the email ${mail.kind} ${index} contains the server, the link and the time, in a single language`, () => {
      const [en, ja] = [mailText("en", "Acme svc", mail), mailText("ja", "Acme svc", mail)]
      for (const { subject, text: body } of [en, ja]) {
        expect(`${subject} ${body}`).toContain("Acme svc")
        expect(body).toContain(link)
        expect(body).toContain("2026-01-02 03:04 UTC")
        expect(subject).not.toMatch(/\n/)
      }
      expect(`${en.subject}${en.text}`).not.toMatch(japanese)
      expect(ja.subject).toMatch(japanese)
      expect(ja.text).not.toMatch(/\b(?:you|your|the|and)\b/i)
    })
  }
})
