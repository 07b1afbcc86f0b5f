import { availableParallelism } from "node:os"
import { Context, Effect, Layer, Redacted, Ref, Semaphore } from "effect"
import { ApiError, invalidRequest } from "../../../schema/errors/ApiError.ts"
import { shortestPassword } from "../../../schema/records/Password.ts"
import { PasswordCost, passwordHashing, prefixAt } from "./PasswordHashing.ts"
import { outsideTransaction } from "../../../runner/thread/OutsideTransaction.ts"

// One core is left for other work, because many wrong passwords must not slow down signed-in people.
const concurrentHashes = Math.max(1, Math.min(2, availableParallelism() - 1))
// Limit on running and waiting hashes combined.
const mostPresent = 18
const retryAfterSeconds = 5

// Follows the prefix in a hash that matches no password.
const dummyEnd = "4464rBaj2HYHmcKQ6PxIze6UBEnHYziRag+Ubl76vyQ$VG9vbGVzYXJlbm90cGFzc3dvcmRzYW5kdGhpc2lzbm8"

const longestBytes = 256
const denied: ReadonlySet<string> = new Set([
  "1234567890",
  "0123456789",
  "12345678910",
  "password123",
  "password1234",
  "passwordpassword",
  "qwertyuiop",
  "qwerty12345",
  "1q2w3e4r5t",
  "1qaz2wsx3edc",
  "iloveyou123",
  "administrator",
  "changeme123",
  "letmein1234",
  "welcome123",
  "aaaaaaaaaa",
  "1111111111"
])

/** A password in the form that is hashed: NFC, never trimmed, at most 256 bytes. */
const normalise = (password: Redacted.Redacted): Redacted.Redacted | undefined => {
  const text = Redacted.value(password).normalize("NFC")
  return text.includes("\u0000") || Buffer.byteLength(text) > longestBytes ? undefined : Redacted.make(text)
}

/** The fault of a new password, or `undefined` for a valid password. It never quotes the password. */
export const passwordRefusal = (password: Redacted.Redacted): ApiError | undefined => {
  const normal = normalise(password)
  if (normal === undefined) return invalidRequest(`password: at most ${longestBytes} bytes, without NUL.`)
  const text = Redacted.value(normal)
  if ([...text].length < shortestPassword) {
    return invalidRequest(`password: at least ${shortestPassword} characters.`)
  }
  return denied.has(text.toLowerCase()) ? invalidRequest("password: too common; choose another one.") : undefined
}

/** Bounded password hashing: two hashes at a time (one on two cores or fewer), a short queue, and beyond that a refusal. */
export class Passwords extends Context.Service<
  Passwords,
  {
    /**
     * The PHC hash of the password. Fails with `invalid_request` if it breaks the rules, `rate_limited` if too many are waiting.
     */
    readonly hash: (password: Redacted.Redacted) => Effect.Effect<string, ApiError>
    /** Takes the same time with or without a hash. Fails with `rate_limited` if too many are waiting. */
    readonly verify: (password: Redacted.Redacted, hash: string | undefined) => Effect.Effect<boolean, ApiError>
    /** True if a hash was computed at a cost other than the current cost. */
    readonly isOutdated: (hash: string) => boolean
  }
>()("svc/actors/access/account/Passwords") {
  static readonly layer = Layer.effect(
    Passwords,
    Effect.gen(function* () {
      const hashing = yield* Semaphore.make(concurrentHashes)
      const present = yield* Ref.make(0)
      const cost = yield* PasswordCost
      const prefix = prefixAt(cost)
      // As costly as a real hash: an unknown account takes as long as a known one.
      const dummyHash = `${prefix}${dummyEnd}`

      const bounded = <A>(work: () => Promise<A>) =>
        Effect.acquireUseRelease(
          Ref.updateAndGet(present, (count) => count + 1),
          (count) =>
            count > mostPresent
              ? new ApiError({
                  code: "rate_limited",
                  message: "Too many people are signing in at this moment. Try again shortly.",
                  retryAfter: retryAfterSeconds
                }).pipe(Effect.fail)
              : hashing.withPermit(outsideTransaction("A password is hashed")(Effect.promise(work))),
          () => Ref.update(present, (count) => count - 1)
        )

      return Passwords.of({
        hash: Effect.fn("Passwords.hash")(function* (password) {
          const refusal = passwordRefusal(password)
          if (refusal !== undefined) return yield* refusal
          const text = Redacted.value(normalise(password) ?? password)
          return yield* bounded(() => passwordHashing.hash(text, cost))
        }),
        verify: Effect.fn("Passwords.verify")(function* (password, hash) {
          const normal = normalise(password)
          // Longer than any accepted password: rejected as wrong without computing a hash.
          if (normal === undefined || Redacted.value(normal) === "") return false
          const matches = yield* bounded(() => passwordHashing.verify(Redacted.value(normal), hash ?? dummyHash))
          return matches && hash !== undefined
        }),
        isOutdated: (hash) => !hash.startsWith(prefix)
      })
    })
  )
}
