import { createHash } from "node:crypto"
import { Context, Duration, Effect, Layer } from "effect"
import { RateLimiter } from "effect/persistence"
import { ApiError } from "../../schema/errors/ApiError.ts"

/** How often one address, and one subject, may try a thing in a minute. */
const perMinute = { sign_in: 10, token: 120, authorize: 60, mutation: 600 } as const
export type Attempt = keyof typeof perMinute

// Keys come from strangers: folding them bounds the memory that they can take.
const fold = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 4)

/** Addresses of one subscriber count as one: the whole /64 of IPv6. */
const subscriber = (address: string): string =>
  address.includes(":") && !address.includes(".") ? expandIpv6(address).slice(0, 4).join(":") : address

const expandIpv6 = (address: string): ReadonlyArray<string> => {
  const [head = "", tail] = address.split("%")[0]?.split("::") ?? []
  const before = head === "" ? [] : head.split(":")
  const after = tail === undefined || tail === "" ? [] : tail.split(":")
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length)
  return [...before, ...Array.from({ length: zeros }, () => "0"), ...after].map((group) => group.padStart(4, "0"))
}

/** Rate limits by address and by subject, kept in memory. */
export class AttemptLimits extends Context.Service<
  AttemptLimits,
  {
    /** Counts an attempt under every key that is given. Fails with `rate_limited` and the seconds to wait. */
    readonly consume: (
      attempt: Attempt,
      keys: { readonly address?: string | undefined; readonly subject?: string | undefined }
    ) => Effect.Effect<void, ApiError>
  }
>()("svc/accounts/AttemptLimits") {
  static readonly layer = Layer.effect(
    AttemptLimits,
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.RateLimiter

      const consumeOne = Effect.fnUntraced(function* (attempt: Attempt, key: string) {
        yield* limiter.consume({ algorithm: "token-bucket", key, limit: perMinute[attempt], window: "1 minute" }).pipe(
          Effect.mapError(({ reason }) => {
            const wait = reason._tag === "RateLimitExceeded" ? Duration.toSeconds(reason.retryAfter) : 1
            return new ApiError({
              code: "rate_limited",
              message: "Too many attempts. Wait before trying again.",
              retryAfter: Math.max(1, Math.ceil(wait))
            })
          })
        )
      })

      return AttemptLimits.of({
        consume: Effect.fn("AttemptLimits.consume")(function* (attempt, { address, subject }) {
          if (address !== undefined) yield* consumeOne(attempt, `${attempt}:a:${fold(subscriber(address))}`)
          if (subject !== undefined) yield* consumeOne(attempt, `${attempt}:s:${fold(subject.trim().toLowerCase())}`)
        })
      })
    })
  ).pipe(Layer.provide(RateLimiter.layer), Layer.provide(RateLimiter.layerStoreMemory))
}
