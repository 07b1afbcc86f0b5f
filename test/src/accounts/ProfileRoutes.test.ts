import { expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { AddressChanges } from "../../../actors/access/account/AddressChanges.ts"
import { Passwords } from "../../../actors/access/account/Passwords.ts"
import { SetupLinks } from "../../../actors/access/account/SetupLinks.ts"
import { Users } from "../../../actors/access/account/Users.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { MailSettings } from "../../../actors/base/mail/MailSettings.ts"
import { newPerson, text } from "../../support/Accounts.ts"
import { it } from "../../support/Effect.ts"
import { AccountServer, call, fromPage, openSession } from "./support/AccountServer.ts"

const mailing = Layer.succeed(MailSettings, {
  origin: { baseUrl: "https://svc.example.com", name: "Acme svc", language: "en" }
})
const fresh = Effect.provide(Layer.fresh(AccountServer.layer))

const person = Effect.fnUntraced(function* (name: string) {
  const { email, subject } = yield* newPerson(name)
  const { secret } = yield* openSession(subject)
  return { subject, email, headers: fromPage(secret) }
})
type Person = Effect.Success<ReturnType<typeof person>>

const whoAmI = ({ headers }: Person) => Effect.map(call("/auth/session", { headers }), ({ json }) => json)
const noticesOf = ({ headers }: Person) => Effect.map(call("/auth/notices", { headers }), ({ json }) => json)
const use = ({ headers }: Person, secret: string) => call("/auth/address", { body: { secret }, headers })
const look = ({ headers }: Person, secret: string) => call("/auth/address/inspect", { body: { secret }, headers })

const linkFor = Effect.fnUntraced(function* ({ subject }: Person, to: string) {
  const changes = yield* AddressChanges
  return text((yield* changes.issue(subject, to, "operator")).secret)
})

it.effect("people can set and remove their own name", () =>
  Effect.gen(function* () {
    const ann = yield* person("ann")
    const rename = (displayName: unknown) => call("/auth/profile", { body: { displayName }, headers: ann.headers })
    expect((yield* rename("Ann Example")).status).toBe(204)
    expect(yield* whoAmI(ann)).toMatchObject({ user: { displayName: "Ann Example" } })
    for (const wrong of ["", "x".repeat(81), "two\nlines", 7, undefined]) {
      expect((yield* rename(wrong)).status).toBe(400)
    }
    expect((yield* rename(null)).status).toBe(204)
    expect(yield* whoAmI(ann)).not.toHaveProperty("user.displayName")
  }).pipe(fresh)
)

it.effect(
  "an address link works once, changes only the account for which it was created, and verifies the new address",
  () =>
    Effect.gen(function* () {
      const users = yield* Users
      const sql = yield* SqlClient.SqlClient
      const ann = yield* person("ann")
      const bob = yield* person("bob")
      const secret = yield* linkFor(ann, "Ann@New.example")
      expect(secret).toStartWith("svce_")
      const [stored] = yield* sql<{ secret_hash: string }>`SELECT secret_hash FROM address_changes`
      expect(stored?.secret_hash).not.toContain(secret)
      expect((yield* look(ann, secret)).json).toMatchObject({
        change: { state: "live", from: ann.email, to: "ann@new.example" }
      })
      for (const [who, given] of [
        [bob, secret],
        [ann, `${secret}x`]
      ] as const) {
        expect((yield* look(who, given)).status).toBe(404)
        expect((yield* use(who, given)).status).toBe(404)
      }
      // A password reset link sent to the previous address stops working when the address changes.
      const links = yield* SetupLinks
      const reset = yield* links.issueReset(ann.subject)
      expect((yield* use(ann, secret)).status).toBe(204)
      expect(yield* whoAmI(ann)).toMatchObject({ user: { email: "ann@new.example" } })
      expect(yield* users.findByEmail("ann@new.example")).toMatchObject({
        value: { subject: ann.subject, emailProof: "operator" }
      })
      expect((yield* Effect.flip(links.inspect(reset.secret))).code).toBe("not_found")
      expect((yield* use(ann, secret)).status).toBe(404)
      expect((yield* look(ann, secret)).json).toEqual({ change: { state: "used" } })
      expect((yield* look(bob, secret)).status).toBe(404)
      expect(yield* noticesOf(ann)).toMatchObject({ notices: [{ kind: "address", detail: ann.email }] })
      expect(yield* noticesOf(bob)).toEqual({ notices: [] })
    }).pipe(fresh)
)

it.effect("an address link expires after a day, when the next link is created, or when the address is taken", () =>
  Effect.gen(function* () {
    const ann = yield* person("ann")
    const bob = yield* person("bob")
    const first = yield* linkFor(ann, "one@new.example")
    const second = yield* linkFor(ann, "two@new.example")
    expect((yield* use(ann, first)).status).toBe(404)
    // Requesting a link for a taken address looks the same as any other request. Only the person who opens the link sees the
    // conflict.
    const taken = yield* linkFor(ann, bob.email)
    expect((yield* use(ann, second)).status).toBe(404)
    expect(yield* use(ann, taken)).toMatchObject({ status: 409, json: { error: { code: "failed_precondition" } } })
    expect(yield* whoAmI(ann)).toMatchObject({ user: { email: ann.email } })
    const late = yield* linkFor(ann, "three@new.example")
    yield* TestClock.adjust("24 hours")
    const { secret } = yield* openSession(ann.subject)
    const here = { ...ann, headers: fromPage(secret) }
    expect((yield* use(here, late)).status).toBe(404)
    expect((yield* look(here, late)).json).toEqual({ change: { state: "expired" } })
    const changes = yield* AddressChanges
    expect((yield* Effect.flip(changes.issue(ann.subject, ann.email.toUpperCase(), "operator"))).code).toBe(
      "invalid_request"
    )
  }).pipe(fresh)
)

it.effect("if svc sends email, people can request a few address-change links a minute", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const ann = yield* person("ann")
    const bob = yield* person("bob")
    const ask = (who: Person, email: string) =>
      call("/auth/address/link", { body: { email }, headers: who.headers, address: "192.0.2.7" })
    const asked = yield* ask(ann, "Ann@New.example")
    expect(asked).toMatchObject({ status: 202, json: { expiresAt: expect.any(String) } })
    expect(Object.keys(Object(asked.json))).toEqual(["expiresAt"])
    // The response does not disclose the address's owner.
    const taken = yield* ask(ann, bob.email)
    expect(taken).toMatchObject({ status: 202, json: asked.json })
    expect(yield* sql`SELECT recipient, kind FROM mails ORDER BY created_at, recipient`).toEqual([
      { recipient: "ann@new.example", kind: "address_link" },
      { recipient: bob.email, kind: "address_link" }
    ])
    expect((yield* ask(ann, "no address")).status).toBe(400)
    expect((yield* ask(ann, "four@new.example")).status).toBe(429)
    expect((yield* ask(bob, "bob@new.example")).status).toBe(202)
    expect(yield* whoAmI(ann)).toMatchObject({ user: { email: ann.email } })
  }).pipe(Effect.provide(Layer.fresh(AccountServer.layer.pipe(Layer.provide(mailing)))))
)

it.effect("a server without email explains that the operator must create the link", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const ann = yield* person("ann")
    const asked = yield* call("/auth/address/link", { body: { email: "ann@new.example" }, headers: ann.headers })
    expect(asked).toMatchObject({ status: 501, json: { error: { code: "capability_not_available" } } })
    expect(asked.raw).toContain("svc admin address-link")
    expect(yield* sql`SELECT 1 FROM address_changes`).toEqual([])
  }).pipe(fresh)
)

it.effect("the owner of a changed account is notified until they dismiss the notice", () =>
  Effect.gen(function* () {
    const users = yield* Users
    const passwords = yield* Passwords
    const ann = yield* person("ann")
    // Sets the first password of a person who has signed in only with a passkey.
    const set = yield* call("/auth/password", { body: { newPassword: "a long enough password" }, headers: ann.headers })
    expect(set.status).toBe(204)
    const { secret } = yield* openSession(ann.subject)
    const here = { ...ann, headers: fromPage(secret) }
    const first = yield* call("/auth/notices", { headers: here.headers })
    expect(first.json).toMatchObject({ notices: [{ kind: "password", detail: null }] })
    const id = /"id":"(ntc_\w+)"/.exec(first.raw)?.[1] ?? ""
    yield* TestClock.adjust("1 second")
    // Simulates a change by somebody else after the list was read.
    yield* users.removePassword(serviceContext, ann.subject)
    yield* TestClock.adjust("1 second")
    yield* users.setPassword(
      serviceContext,
      ann.subject,
      yield* passwords.hash((yield* openSession(ann.subject)).secret)
    )
    const again = { ...ann, headers: fromPage((yield* openSession(ann.subject)).secret) }
    const see = (noticeId: string, who: Person) =>
      call("/auth/notices/seen", { body: { noticeId }, headers: who.headers })
    const bob = yield* person("bob")
    expect((yield* see(id, bob)).status).toBe(204)
    expect(yield* noticesOf(again)).toMatchObject({ notices: { length: 3 } })
    expect((yield* see(id, again)).status).toBe(204)
    expect(yield* noticesOf(again)).toMatchObject({ notices: [{ kind: "password" }, { kind: "password_removed" }] })
  }).pipe(fresh)
)

it.effect("people can sign out all their other sessions and stay signed in", () =>
  Effect.gen(function* () {
    const ann = yield* person("ann")
    const bob = yield* person("bob")
    const other = yield* openSession(ann.subject)
    const answer = yield* call("/auth/sessions/revoke-others", { body: {}, headers: ann.headers })
    expect(answer.status).toBe(204)
    expect((yield* call("/auth/session", { headers: fromPage(other.secret) })).status).toBe(401)
    for (const { headers } of [ann, bob]) expect((yield* call("/auth/session", { headers })).status).toBe(200)
  }).pipe(fresh)
)
