import { Context, Deferred, Effect, Exit, Layer, Option, Stream } from "effect"
import { RunStreams, type SequencePage } from "../../actors/run/Runs.ts"
import type { RunId } from "../../schema/records/Ids.ts"
import { framesOf } from "./FrameText.ts"
import type { RunFrame, RunSequence } from "./RunFrames.ts"

const pageSize = 256
// Wake-ups do the work; this only bounds the damage of one that is lost, e.g. a Run that another process advances.
const reread = "15 seconds"

interface FeedPage {
  readonly frames: ReadonlyArray<RunFrame>
  readonly nextAfter: number
  readonly done: boolean
}

interface Reading {
  readonly after: number
  readonly version: number
  readonly page: Deferred.Deferred<FeedPage>
}

/**
 * The readers of one sequence. Subscribers that stand at the same place share one read of the ledger and one encoding;
 * all that is kept is the newest page. Whoever is behind reads the ledger again for itself.
 */
class Feed {
  #version = 0
  #newest: Reading | undefined
  readonly #waiting = new Set<() => void>()
  readonly #read: (after: number) => Effect.Effect<FeedPage>
  readonly close: () => void
  subscribers = 0

  constructor(read: (after: number) => Effect.Effect<FeedPage>, listen: (listener: () => void) => () => void) {
    this.#read = read
    this.close = listen(() => {
      this.#version++
      const waiting = [...this.#waiting]
      this.#waiting.clear()
      for (const resume of waiting) resume()
    })
  }

  /** The next page after `after`, as soon as there is one. */
  next(after: number): Effect.Effect<FeedPage> {
    return Effect.suspend(() => {
      // Taken before the read: whatever changes from here on is noticed, whether the read saw it or not.
      const seen = this.#version
      return Effect.filterOrElse(
        this.#page(after, seen),
        (page) => page.frames.length > 0 || page.done,
        () => Effect.andThen(this.#changed(seen), this.next(after))
      )
    })
  }

  #page(after: number, version: number): Effect.Effect<FeedPage> {
    const shared = this.#newest
    if (shared !== undefined && shared.after === after && shared.version === version) return Deferred.await(shared.page)
    const reading: Reading = { after, version, page: Deferred.makeUnsafe() }
    this.#newest = reading
    // Not interruptible: others wait for this page when the subscriber that reads it goes away.
    return Effect.uninterruptible(
      Effect.onExit(this.#read(after), (exit) => {
        if (Exit.isFailure(exit)) this.#newest = undefined
        return Deferred.done(reading.page, exit)
      })
    )
  }

  #changed(seen: number): Effect.Effect<void> {
    return Effect.callback<void>((resume) => {
      if (this.#version !== seen) return resume(Effect.void)
      const wake = () => resume(Effect.void)
      this.#waiting.add(wake)
      return Effect.sync(() => this.#waiting.delete(wake))
    }).pipe(
      Effect.timeoutOrElse({
        duration: reread,
        orElse: () =>
          Effect.sync(() => {
            if (this.#version === seen) this.#version++
          })
      })
    )
  }
}

/** Live reading of the durable sequences of Runs. */
export class RunFeeds extends Context.Service<
  RunFeeds,
  {
    /** Every frame after `after` until the Run is final. Reads only as fast as the consumer pulls. */
    readonly follow: (id: RunId, sequence: RunSequence, after: number) => Stream.Stream<RunFrame>
  }
>()("svc/streams/RunFeeds") {
  static readonly layer = Layer.effect(
    RunFeeds,
    Effect.gen(function* () {
      const streams = yield* RunStreams
      const feeds = new Map<string, Feed>()

      const readerOf = (id: RunId, sequence: RunSequence) => (after: number) => {
        const encode = (page: SequencePage<{ readonly seq: number }>): FeedPage => ({
          frames: framesOf(sequence, page),
          nextAfter: page.nextAfter,
          done: page.done
        })
        return sequence === "events"
          ? Effect.map(streams.events(id, after, pageSize), encode)
          : Effect.map(streams.logs(id, after, pageSize), encode)
      }

      const acquire = (id: RunId, sequence: RunSequence) =>
        Effect.acquireRelease(
          Effect.sync(() => {
            const key = `${sequence} ${id}`
            const feed = feeds.get(key) ?? new Feed(readerOf(id, sequence), (listener) => streams.listen(id, listener))
            feeds.set(key, feed)
            feed.subscribers++
            return feed
          }),
          (feed) =>
            Effect.sync(() => {
              feed.subscribers--
              if (feed.subscribers > 0) return
              feed.close()
              feeds.delete(`${sequence} ${id}`)
            })
        )

      return RunFeeds.of({
        follow: (id, sequence, after) =>
          Stream.unwrap(
            Effect.map(acquire(id, sequence), (feed) =>
              Stream.paginate(after, (position) =>
                Effect.map(feed.next(position), (page) => [
                  page.frames,
                  page.done ? Option.none() : Option.some(page.nextAfter)
                ])
              )
            )
          )
      })
    })
  )
}
