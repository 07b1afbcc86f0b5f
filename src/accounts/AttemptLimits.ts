import { createHmac } from "node:crypto"
import { Context, Duration, Effect, Layer, Option, Semaphore } from "effect"
import { SecureRandom } from "effect/crypto"
import { RateLimiter } from "effect/persistence"
import { ApiError } from "../../schema/errors/ApiError.ts"
import { addressForms } from "../../schema/records/EmailAddress.ts"

/** Maximum number of attempts per minute for each address or subject. */
const perMinute = {
  sign_in: 10,
  token: 120,
  authorize: 60,
  mutation: 600,
  invitation: 20,
  address_link: 3,
  /** A confirmation requested by a program, or a code that a person enters for the program. */
  confirmation: 10,
  /** A message from an agent without a session. */
  agent: 600,
  /** A webhook delivery. */
  delivery: 600
} as const
export type Attempt = keyof typeof perMinute

/**
 * Maximum number of sign-in attempts per minute.
 * - `account`: from one address for one account
 * - `address`: from one address for all accounts (an office or a household)
 * - `device`: in one browser in which the person has signed in before
 */
const signInsPerMinute = { account: 10, address: 60, device: 20 } as const

/**
 * Maximum number of attempts per minute that unknown devices can make on one account before further attempts are delayed.
 */
const unhurriedPerMinute = 30
const strangerDelay = Duration.seconds(5)
/** Maximum number of delayed attempts on the whole server, because each delayed attempt keeps a request open. */
const mostWaiting = 200

/**
 * The number of servers among which the limits are divided. Each server counts only its own attempts, so the limits are
 * divided to ensure that all servers together allow no more attempts than a single server would.
 */
export const LimitingServers = Context.Reference<Effect.Effect<number>>("svc/src/accounts/LimitingServers", {
  defaultValue: () => Effect.succeed(1)
})

const tooMany = (seconds: number) =>
  new ApiError({
    code: "rate_limited",
    message: "Too many attempts. Wait before trying again.",
    retryAfter: Math.max(1, Math.ceil(seconds))
  })

/** Returns the same key for all addresses of a subscriber, because an IPv6 subscriber has an entire /64. */
const subscriber = (address: string): string =>
  address.includes(":") && !address.includes(".") ? expandIpv6(address).slice(0, 4).join(":") : address

const expandIpv6 = (address: string): ReadonlyArray<string> => {
  const [head = "", tail] = address.split("%")[0]?.split("::") ?? []
  const before = head === "" ? [] : head.split(":")
  const after = tail === undefined || tail === "" ? [] : tail.split(":")
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length)
  return [...before, ...Array.from({ length: zeros }, () => "0"), ...after].map((group) => group.padStart(4, "0"))
}

/**
 * Enforces rate limits for each address and each subject. Keeps the counts in memory. If several servers share a database,
 * each server allows an equal share of the attempts.
 */
export class AttemptLimits extends Context.Service<
  AttemptLimits,
  {
    /** Counts an attempt under every given key. Fails with `rate_limited`, which includes the number of seconds to wait. */
    readonly consume: (
      attempt: Attempt,
      keys: { readonly address?: string | undefined; readonly subject?: string | undefined }
    ) => Effect.Effect<void, ApiError>
    /**
     * Counts a sign-in attempt. A known device has a separate budget, which nobody else can use up. Attempts from unknown
     * devices are limited for each address, both on one account and in total. If attempts on one account come from many
     * addresses, svc only delays them, because refusing them would let attackers lock the owner out. Only a limited number
     * of attempts may wait at the same time; svc refuses the rest. Fails with `rate_limited`.
     */
    readonly enter: (from: {
      readonly address: string | undefined
      /** The account of the attempt, as given in the request. */
      readonly account?: string | undefined
      readonly device?: string | undefined
    }) => Effect.Effect<void, ApiError>
  }
>()("svc/src/accounts/AttemptLimits") {
  static readonly layer = Layer.effect(
    AttemptLimits,
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.RateLimiter

      // Map the keys, which unauthenticated clients choose, to a fixed number of buckets to bound memory use. The salt makes
      // collisions unpredictable for these clients.
      const random = yield* SecureRandom.SecureRandom
      const key = yield* random.randomBytes(32)
      const fold = (text: string) => createHmac("sha256", key).update(text).digest("hex").slice(0, 5)
      const addressKey = (address: string) => fold(`a:${subscriber(address)}`)
      // Normalise the address. Otherwise each spelling would have its own budget.
      const named = (name: string) => addressForms(name)[1]

      const servers = yield* LimitingServers
      const spend = (name: string, whole: number) =>
        Effect.flatMap(servers, (count) =>
          limiter.consume({
            algorithm: "token-bucket",
            key: name,
            limit: Math.max(1, Math.floor(whole / count)),
            window: "1 minute"
          })
        )

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
          // Each person has a separate budget in each browser, so nobody else who uses the browser, or who planted the
          // browser's id, can use that budget up.
          return yield* consumeOne(`enter:d:${fold(`${device} ${named(account ?? "")}`)}`, signInsPerMinute.device)
        }
        if (address !== undefined) yield* consumeOne(`enter:a:${addressKey(address)}`, signInsPerMinute.address)
        if (account === undefined) return
        yield* consumeOne(
          `enter:sa:${fold(`${named(account)} ${subscriber(address ?? "")}`)}`,
          signInsPerMinute.account
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
