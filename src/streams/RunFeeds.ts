import { Context, Deferred, Effect, Exit, Layer, Option, RcMap, Stream } from "effect"
import { RunStreams, type SequencePage } from "../../actors/ledger/run/Runs.ts"
import type { RunId } from "../../schema/records/Ids.ts"
import { framesOf } from "./FrameText.ts"
import type { RunFrame, RunSequence } from "./RunFrames.ts"

const pageSize = 256
// Interval for reading again without a wake-up. The interval matters only if a wake-up is lost, for example because another
// process advances the Run.
const reread = "15 seconds"

interface FeedPage {
  readonly frames: ReadonlyArray<RunFrame>
  readonly nextAfter: number
  readonly done: boolean
}

interface FeedKey {
  readonly id: RunId
  readonly sequence: RunSequence
}

interface Reading {
  readonly after: number
  readonly version: number
  readonly page: Deferred.Deferred<FeedPage>
}

/**
 * Shares the reads of one sequence: subscribers at the same position share one read of the ledger and one encoding. Keeps
 * only the two newest pages, because the fastest reader may reach the end again before the other readers have received the
 * previous page. A reader that is further behind reads from the ledger instead.
 */
class Feed {
  #version = 0
  #readings: ReadonlyArray<Reading> = []
  readonly #waiting = new Set<() => void>()
  readonly #read: (after: number) => Effect.Effect<FeedPage>

  constructor(read: (after: number) => Effect.Effect<FeedPage>) {
    this.#read = read
  }

  /** Wakes all waiting readers. */
  wake(): void {
    this.#version++
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const resume of waiting) resume()
  }

  /** Returns the page that follows `after`, as soon as it exists. */
  next(after: number): Effect.Effect<FeedPage> {
    return Effect.suspend(() => {
      // Take the version before the read, so that a later change is not missed even if the read did not include the change.
      const seen = this.#version
      return Effect.filterOrElse(
        this.#page(after, seen),
        (page) => page.frames.length > 0 || page.done,
        () => Effect.andThen(this.#changed(seen), this.next(after))
      )
    })
  }

  #page(after: number, version: number): Effect.Effect<FeedPage> {
    const shared = this.#readings.find((reading) => reading.after === after && reading.version === version)
    if (shared !== undefined) return Deferred.await(shared.page)
    const reading: Reading = { after, version, page: Deferred.makeUnsafe() }
    this.#readings = [reading, ...this.#readings.slice(0, 1)]
    // Uninterruptible, because other readers may still wait for this page if the reading subscriber disconnects.
    return Effect.uninterruptible(
      Effect.onExit(this.#read(after), (exit) => {
        if (Exit.isFailure(exit)) this.#readings = this.#readings.filter((kept) => kept !== reading)
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
    })
  }
}

/** Live streams of the durable sequences of Runs. */
export class RunFeeds extends Context.Service<
  RunFeeds,
  {
    /** Streams every frame after `after` until the Run is final. Reads no faster than the consumer pulls. */
    readonly follow: (id: RunId, sequence: RunSequence, after: number) => Stream.Stream<RunFrame>
    /**
     * Passes each frame to `take` and waits for `take` to finish. If there are many readers, this has less overhead than the
     * stream.
     */
    readonly deliver: (
      id: RunId,
      sequence: RunSequence,
      after: number,
      take: (frame: RunFrame) => Effect.Effect<void>
    ) => Effect.Effect<void>
  }
>()("svc/src/streams/RunFeeds") {
  static readonly layer = Layer.effect(
    RunFeeds,
    Effect.gen(function* () {
      const streams = yield* RunStreams

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

      const opened = Effect.fnUntraced(function* ({ id, sequence }: FeedKey) {
        const feed = new Feed(readerOf(id, sequence))
        const wake = () => feed.wake()
        yield* Effect.acquireRelease(
          Effect.sync(() => streams.listen(id, wake)),
          (stop) => Effect.sync(stop)
        )
        // Use a single timer for all readers. With one timer per reader and frame, a server with many readers would spend
        // all its time on timers.
        yield* Effect.sync(wake).pipe(Effect.delay(reread), Effect.forever, Effect.forkScoped)
        return feed
      })

      const feeds = yield* RcMap.make({ lookup: opened })

      return RunFeeds.of({
        follow: (id, sequence, after) =>
          Stream.unwrap(
            Effect.map(RcMap.get(feeds, { id, sequence }), (feed) =>
              Stream.paginate(after, (position) =>
                Effect.map(feed.next(position), (page) => [
                  page.frames,
                  page.done ? Option.none() : Option.some(page.nextAfter)
                ])
              )
            )
          ),
        deliver: Effect.fnUntraced(function* (id, sequence, after, take) {
          const feed = yield* RcMap.get(feeds, { id, sequence })
          let page: FeedPage
          let position = after
          do {
            page = yield* feed.next(position)
            position = page.nextAfter
            for (const frame of page.frames) yield* take(frame)
          } while (!page.done)
        }, Effect.scoped)
      })
    })
  )
}
