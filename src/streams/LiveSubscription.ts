import { Context, type Duration, Effect, Stream } from "effect"
import type { ApiError } from "../../schema/errors/ApiError.ts"
import type { RunId } from "../../schema/records/Ids.ts"
import { AuthorityChanges, untilRefused } from "./AuthorityChanges.ts"
import { RunFeeds } from "./RunFeeds.ts"
import type { RunFrames, RunSequence } from "./RunFrames.ts"

/**
 * Interval for checking whether the authority of a live subscription has expired. A revocation takes effect immediately when it
 * commits.
 */
export const RecheckInterval = Context.Reference<Duration.Input>("svc/src/streams/RecheckInterval", {
  defaultValue: () => "5 seconds"
})

/** Subscribes for as long as the authority is valid: while the credential is valid and the membership is active. */
export const subscribe = Effect.fn("subscribe")(function* (options: {
  readonly runId: RunId
  readonly sequence: RunSequence
  readonly after: number
  readonly subject: string
  readonly requestId: string
  readonly recheck: Effect.Effect<void, ApiError>
}) {
  const feeds = yield* RunFeeds
  const authority = yield* AuthorityChanges
  const recheckEvery = yield* RecheckInterval
  const watch = untilRefused(authority, options.recheck, recheckEvery)
  const subscription: RunFrames = {
    subject: options.subject,
    requestId: options.requestId,
    after: options.after,
    frames: feeds.follow(options.runId, options.sequence, options.after).pipe(Stream.interruptWhen(watch)),
    deliver: (take) => Effect.raceFirst(feeds.deliver(options.runId, options.sequence, options.after, take), watch)
  }
  return subscription
})
