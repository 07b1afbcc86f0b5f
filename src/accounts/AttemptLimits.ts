import { createHmac } from "node:crypto"
import { Context, Duration, Effect, Layer, Option, Semaphore } from "effect"
import { SecureRandom } from "effect/crypto"
import { RateLimiter } from "effect/persistence"
import { ApiError } from "../../schema/errors/ApiError.ts"
import { addressForms } from "../../schema/records/EmailAddress.ts"

/** Number of attempts per minute that an address or a subject may make. */
const perMinute = {
  sign_in: 10,
  token: 120,
  authorize: 60,
  mutation: 600,
  invitation: 20,
  address_link: 3,
  /** A message of an agent that has no session. */
  agent: 600,
  /** A delivery of a webhook. */
  delivery: 600
} as const
export type Attempt = keyof typeof perMinute

/**
 * Sign-in attempts allowed per minute: from one address for one account, from one address for all accounts together (an office or
 * a household), and from one browser in which a person has signed in before.
 */
const entrancePerMinute = { account: 10, address: 60, device: 20 } as const

/** Beyond this, strangers' attempts at one account are delayed. */
const unhurriedPerMinute = 30
const strangerDelay = Duration.seconds(5)
/** Delayed attempts keep requests open, so the whole server allows a limited number of them. */
const mostWaiting = 200

const tooMany = (seconds: number) =>
  new ApiError({
    code: "rate_limited",
    message: "Too many attempts. Wait before trying again.",
    retryAfter: Math.max(1, Math.ceil(seconds))
  })

/** Treats all addresses of one subscriber as one: the whole /64 for IPv6. */
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
    /** Counts an attempt under every given key. Fails with `rate_limited` and the seconds to wait. */
    readonly consume: (
      attempt: Attempt,
      keys: { readonly address?: string | undefined; readonly subject?: string | undefined }
    ) => Effect.Effect<void, ApiError>
    /**
     * Counts a sign-in attempt. A known device has its own budget, which nobody else can use up. Strangers are limited by
     * address, per account and in total; many addresses attacking one account only delay strangers, since a limit there would let
     * them lock the person out. Only a limited number may wait at the same time; the rest are refused. Fails with `rate_limited`.
     */
    readonly enter: (from: {
      readonly address: string | undefined
      /** The account that the attempt is for, as named in the request. */
      readonly account?: string | undefined
      readonly device?: string | undefined
    }) => Effect.Effect<void, ApiError>
  }
>()("svc/src/accounts/AttemptLimits") {
  static readonly layer = Layer.effect(
    AttemptLimits,
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.RateLimiter

      // Keys come from strangers: folding them bounds the memory they use. The salt keeps strangers from finding a name that
      // collides with another's.
      const random = yield* SecureRandom.SecureRandom
      const key = yield* random.randomBytes(32)
      const fold = (text: string) => createHmac("sha256", key).update(text).digest("hex").slice(0, 5)
      const addressKey = (address: string) => fold(`a:${subscriber(address)}`)
      // Otherwise each spelling of an address would have its own budget.
      const named = (name: string) => addressForms(name)[1]

      const spend = (name: string, limit: number) =>
        limiter.consume({ algorithm: "token-bucket", key: name, limit, window: "1 minute" })

      const consumeOne = (name: string, limit: number) =>
        spend(name, limit).pipe(
          Effect.mapError(({ reason }) =>
            tooMany(reason._tag === "RateLimitExceeded" ? Duration.toSeconds(reason.retryAfter) : 1)
          )
        )

      const places = yield* Semaphore.make(mostWaiting)
      const delayed = places
        .withPermitsIfAvailable(1)(Effect.sleep(strangerDelay))
        .pipe(Effect.filterOrFail(Option.isSome, () => tooMany(Duration.toSeconds(strangerDelay))))

      const enter = Effect.fn("AttemptLimits.enter")(function* (from: {
        readonly address: string | undefined
        readonly account?: string | undefined
        readonly device?: string | undefined
      }) {
        const { account, address, device } = from
        if (device !== undefined) {
          // One budget per person in that browser: anyone who shares it, or planted its id, has a separate one.
          return yield* consumeOne(`enter:d:${fold(`${device} ${named(account ?? "")}`)}`, entrancePerMinute.device)
        }
        if (address !== undefined) yield* consumeOne(`enter:a:${addressKey(address)}`, entrancePerMinute.address)
        if (account === undefined) return
        yield* consumeOne(
          `enter:sa:${fold(`${named(account)} ${subscriber(address ?? "")}`)}`,
          entrancePerMinute.account
        )
        yield* spend(`enter:s:${fold(named(account))}`, unhurriedPerMinute).pipe(Effect.catch(() => delayed))
      }, Effect.asVoid)

      return AttemptLimits.of({
        consume: Effect.fn("AttemptLimits.consume")(function* (attempt, { address, subject }) {
          if (address !== undefined) yield* consumeOne(`${attempt}:a:${addressKey(address)}`, perMinute[attempt])
          if (subject !== undefined) yield* consumeOne(`${attempt}:s:${fold(named(subject))}`, perMinute[attempt])
        }),
        enter
      })
    })
  ).pipe(
    Layer.provide([RateLimiter.layer.pipe(Layer.provide(RateLimiter.layerStoreMemory)), SecureRandom.layerWebCrypto])
  )
}
