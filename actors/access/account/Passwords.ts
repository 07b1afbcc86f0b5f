import { availableParallelism } from "node:os"
import { Context, Effect, Layer, Redacted, Ref, Semaphore } from "effect"
import { ApiError, invalidRequest } from "../../../schema/errors/ApiError.ts"
import { shortestPassword } from "../../../schema/records/Password.ts"
import { PasswordCost, passwordHashing, prefixAt } from "./PasswordHashing.ts"
import { outsideTransaction } from "../../../runner/thread/OutsideTransaction.ts"

// Maximum number of hashes that are computed at a time. It leaves one core for other work, so that many wrong passwords do
// not slow down people who are signed in.
const concurrentHashes = Math.max(1, Math.min(2, availableParallelism() - 1))
// Maximum number of hashes that are being computed or waiting.
const mostPresent = 18
const retryAfterSeconds = 5

// Salt and digest of a dummy hash that matches no password.
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

/** Prepares a password for hashing: normalises it to NFC, and accepts at most 256 bytes. Never trims the password. */
const normalise = (password: Redacted.Redacted): Redacted.Redacted | undefined => {
  const text = Redacted.value(password).normalize("NFC")
  return text.includes("\u0000") || Buffer.byteLength(text) > longestBytes ? undefined : Redacted.make(text)
}

/** Returns the reason why a new password is not acceptable. The reason never contains the password. */
export const passwordRefusal = (password: Redacted.Redacted): ApiError | undefined => {
  const normal = normalise(password)
  if (normal === undefined) return invalidRequest(`password: at most ${longestBytes} bytes, without NUL.`)
  const text = Redacted.value(normal)
  if ([...text].length < shortestPassword) {
    return invalidRequest(`password: at least ${shortestPassword} characters.`)
  }
  return denied.has(text.toLowerCase()) ? invalidRequest("password: too common; choose another one.") : undefined
}

/**
 * Hashes passwords, at most two at a time (one on machines with up to two cores), with a short queue. Further requests are
 * refused.
 */
export class Passwords extends Context.Service<
  Passwords,
  {
    /**
     * Returns the PHC hash of the password. Fails with `invalid_request` if the password is not acceptable, and with
     * `rate_limited` if too many hashes are waiting.
     */
    readonly hash: (password: Redacted.Redacted) => Effect.Effect<string, ApiError>
    /**
     * Compares the password with the hash. Takes the same time even if there is no hash. Fails with `rate_limited` if too
     * many hashes are waiting.
     */
    readonly verify: (password: Redacted.Redacted, hash: string | undefined) => Effect.Effect<boolean, ApiError>
    /** Returns true if the hash does not have the current cost. */
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
      // A dummy hash that is as costly to verify as a real hash, so that the response time does not reveal whether an
      // account exists.
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
          // Rejects an empty or overlong password without computing a hash, because no account can have one.
          if (normal === undefined || Redacted.value(normal) === "") return false
          const matches = yield* bounded(() => passwordHashing.verify(Redacted.value(normal), hash ?? dummyHash))
          return matches && hash !== undefined
        }),
        isOutdated: (hash) => !hash.startsWith(prefix)
      })
    })
  )
}
