import { expect } from "bun:test"
import { Effect, Exit, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { AttemptLimits, LimitingServers } from "../../../src/accounts/AttemptLimits.ts"
import { it } from "../../support/Effect.ts"

const limited = (attempt: Effect.Effect<void, unknown>) => Effect.map(Effect.exit(attempt), Exit.isFailure)

const address = (n: number) => `198.51.${Math.floor(n / 250)}.${(n % 250) + 1}`

it.effect("an IP address may make ten sign-in attempts a minute per account, and sixty in total", () =>
  Effect.gen(function* () {
    const { enter } = yield* AttemptLimits
    for (let n = 0; n < 10; n++) yield* enter({ address: "192.0.2.1", account: "ada@example.com" })
    for (const account of [
      " ADA@example.com",
      "ada@EXAMPLE.com",
      "ada@\uff45\uff58ample.com",
      "ada@example\u3002com"
    ]) {
      expect(yield* limited(enter({ address: "192.0.2.1", account }))).toBe(true)
    }
    expect(yield* limited(enter({ address: "192.0.2.2", account: "ada@example.com" }))).toBe(false)
    for (let n = 0; n < 46; n++) yield* enter({ address: "192.0.2.1", account: `a${n}@example.com` })
    expect(yield* limited(enter({ address: "192.0.2.1", account: "last@example.com" }))).toBe(true)
    expect(yield* limited(enter({ address: "192.0.2.1" }))).toBe(true)
    yield* TestClock.adjust("6 seconds")
    expect(yield* limited(enter({ address: "192.0.2.1", account: "ada@example.com" }))).toBe(false)
    // A /64 network counts as one address, because one subscriber controls the entire network.
    for (let n = 0; n < 10; n++) yield* enter({ address: `2001:db8:0:1::${n + 1}`, account: "bob@example.com" })
    expect(yield* limited(enter({ address: "2001:db8:0:1:ffff::1", account: "bob@example.com" }))).toBe(true)
    expect(yield* limited(enter({ address: "2001:db8:0:2::1", account: "bob@example.com" }))).toBe(false)
  }).pipe(Effect.provide(AttemptLimits.layer))
)

it.effect("each of three servers allows a third of the attempts, and at least one", () =>
  Effect.gen(function* () {
    const { consume } = yield* AttemptLimits
    for (let n = 0; n < 3; n++) yield* consume("sign_in", { subject: "ada" })
    expect(yield* limited(consume("sign_in", { subject: "ada" }))).toBe(true)
    yield* consume("address_link", { subject: "ada" })
    expect(yield* limited(consume("address_link", { subject: "ada" }))).toBe(true)
  }).pipe(Effect.provide(AttemptLimits.layer.pipe(Layer.provide(Layer.succeed(LimitingServers, Effect.succeed(3))))))
)

it.effect("sign-in delays unknown browsers when many IP addresses attack one account", () =>
  Effect.gen(function* () {
    const { enter } = yield* AttemptLimits
    for (let n = 0; n < 30; n++) yield* enter({ address: address(n), account: "ada@example.com" })
    // Once 30 addresses have tried this account, attempts from further addresses wait five seconds before the password check.
    const strangers = yield* Effect.forEach(
      Array.from({ length: 199 }, (_, n) => n + 30),
      (n) => Effect.forkChild(enter({ address: address(n), account: "ada@example.com" }), { startImmediately: true })
    )
    const person = yield* Effect.forkChild(enter({ address: "203.0.113.1", account: "ada@example.com" }), {
      startImmediately: true
    })
    yield* TestClock.adjust("4 seconds")
    expect(person.pollUnsafe()).toBeUndefined()
    // The person's own browser does not wait at all.
    yield* enter({ address: "203.0.113.1", account: "ada@example.com", device: "known" })
    yield* TestClock.adjust("1 second")
    expect(person.pollUnsafe()).toEqual(Exit.void)
    yield* Fiber.joinAll(strangers)
    expect(yield* limited(enter({ address: "203.0.113.1", account: "bob@example.com" }))).toBe(false)
  }).pipe(Effect.provide(AttemptLimits.layer))
)

it.effect("sign-in limits the number of delayed attempts, and never delays known browsers", () =>
  Effect.gen(function* () {
    const { enter } = yield* AttemptLimits
    const accounts = ["ada@example.com", "bob@example.com"]
    for (const account of accounts) for (let n = 0; n < 30; n++) yield* enter({ address: address(n), account })
    const waiting = yield* Effect.forEach(
      Array.from({ length: 200 }, (_, n) => n + 30),
      (n) =>
        Effect.forkChild(enter({ address: address(n), account: accounts[n % 2] ?? "" }), { startImmediately: true })
    )
    // The limit on delayed attempts applies to the whole server, not to each account.
    for (const account of accounts) {
      const refused = yield* Effect.flip(enter({ address: "203.0.113.1", account }))
      expect([refused.code, refused.retryAfter]).toEqual(["rate_limited", 5])
    }
    yield* enter({ address: "203.0.113.1", account: "ada@example.com", device: "known" })
    // An attempt that is not delayed does not occupy a waiting slot.
    yield* enter({ address: "203.0.113.1", account: "eve@example.com" })
    // A waiting slot is freed when the browser disconnects or the wait ends.
    yield* Fiber.interrupt(waiting[0] ?? (yield* Effect.die("nobody waits")))
    const next = yield* Effect.forkChild(enter({ address: "203.0.113.2", account: "ada@example.com" }), {
      startImmediately: true
    })
    expect(yield* limited(enter({ address: "203.0.113.3", account: "ada@example.com" }))).toBe(true)
    yield* TestClock.adjust("5 seconds")
    expect(next.pollUnsafe()).toEqual(Exit.void)
    const later = yield* Effect.forkChild(enter({ address: "203.0.113.4", account: "ada@example.com" }), {
      startImmediately: true
    })
    yield* TestClock.adjust("5 seconds")
    expect(later.pollUnsafe()).toEqual(Exit.void)
  }).pipe(Effect.provide(AttemptLimits.layer))
)

it.effect("sign-in counts the attempts of each person on a shared browser separately", () =>
  Effect.gen(function* () {
    const { enter } = yield* AttemptLimits
    const device = "shared"
    for (let n = 0; n < 20; n++) yield* enter({ address: "192.0.2.1", account: "eve@example.com", device })
    expect(yield* limited(enter({ address: "192.0.2.1", account: "Eve@example.com", device }))).toBe(true)
    expect(yield* limited(enter({ address: "203.0.113.1", account: "ada@example.com", device }))).toBe(false)
  }).pipe(Effect.provide(AttemptLimits.layer))
)
