import { afterAll, expect } from "bun:test"
import { Effect, Layer, Redacted, Result } from "effect"
import { PasswordCost } from "../../../../actors/access/account/PasswordHashing.ts"
import { Passwords, passwordRefusal } from "../../../../actors/access/account/Passwords.ts"
import { suite } from "../../../support/Effect.ts"

// Hashes at the cost used in production. Other tests hash at a lower cost.
const it = suite(Passwords.layer.pipe(Layer.provide(Layer.succeed(PasswordCost, PasswordCost.defaultValue()))))
afterAll(it.dispose)

const secret = (text: string) => Redacted.make(text)

it.live("a password is hashed with argon2id at the configured cost, and only the same password matches the hash", () =>
  Effect.gen(function* () {
    const passwords = yield* Passwords
    const hash = yield* passwords.hash(secret("correct horse battery"))
    expect(hash).toStartWith("$argon2id$v=19$m=19456,t=2,p=1$")
    expect(yield* passwords.verify(secret("correct horse battery"), hash)).toBe(true)
    expect(yield* passwords.verify(secret("correct horse batterz"), hash)).toBe(false)
    expect(yield* passwords.verify(secret("correct horse battery "), hash)).toBe(false)
    expect(passwords.isOutdated(hash)).toBe(false)
    expect(passwords.isOutdated(hash.replace("m=19456", "m=8192"))).toBe(true)
  })
)

it.live("sign-in to an unknown account compares against a hash of the same cost", () =>
  Effect.gen(function* () {
    const passwords = yield* Passwords
    expect(yield* passwords.verify(secret("anything at all"), undefined)).toBe(false)
    expect(yield* passwords.verify(secret("x"), undefined)).toBe(false)
  })
)

it.live("a password matches its hash in every Unicode normalisation form", () =>
  Effect.gen(function* () {
    const passwords = yield* Passwords
    const hash = yield* passwords.hash(secret("caf\u00e9 caf\u00e9 caf\u00e9"))
    expect(yield* passwords.verify(secret("cafe\u0301 cafe\u0301 cafe\u0301"), hash)).toBe(true)
  })
)

it.live(
  "svc rejects passwords that are too short, too long or common, or that contain NUL, and does not quote them in the error",
  () =>
    Effect.sync(() => {
      for (const wrong of [
        "",
        "eleven char",
        "é".repeat(11),
        "a".repeat(257),
        "é".repeat(129),
        "with a \u0000 in it",
        "PasswordPassword"
      ]) {
        const refusal = passwordRefusal(secret(wrong))
        expect(refusal?.code).toBe("invalid_request")
        if (wrong !== "") expect(refusal?.message).not.toContain(wrong)
      }
      for (const fine of ["twelve chars", "a".repeat(256).replace(/a$/, "b"), "パスワードは十二文字です"]) {
        expect(passwordRefusal(secret(fine))).toBeUndefined()
      }
    })
)

it.live("svc rejects a password request, with a retry time, while eighteen others are running or waiting", () =>
  Effect.gen(function* () {
    const passwords = yield* Passwords
    const outcomes = yield* Effect.forEach(
      Array.from({ length: 21 }, (_, n) => n),
      (n) => Effect.result(passwords.verify(secret(`password ${n}`), undefined)),
      { concurrency: "unbounded" }
    )
    const refused = outcomes.flatMap((outcome) => (Result.isFailure(outcome) ? [outcome.failure] : []))
    expect(refused.length).toBe(3)
    for (const error of refused) expect(error).toMatchObject({ code: "rate_limited", retryAfter: 5 })
    expect(yield* passwords.verify(secret("later"), undefined)).toBe(false)
  })
)
