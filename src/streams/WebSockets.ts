import { Cause, Context, Deferred, type Duration, Effect, Exit, Fiber, FiberSet, Layer } from "effect"
import { ApiError } from "../../schema/errors/ApiError.ts"
import { doneText, type RunFrame, type RunFrames } from "./RunFrames.ts"

/** Operations on a socket that a server provides. */
export interface SocketSink {
  /**
   * Returns the number of sent bytes, -1 if the socket is buffering the text and will drain later, or 0 if the socket is
   * closed.
   */
  readonly send: (text: string) => number
  readonly close: (code: number, reason: string) => void
  readonly terminate: () => void
}

/** An open socket. The server reports when its buffer has drained and when it has closed. */
export interface SocketSession {
  readonly drained: () => void
  readonly closed: () => void
}

/**
 * Time after which a subscriber that does not read is disconnected. The subscriber can resume from the last frame that it
 * read.
 */
export const StalledAfter = Context.Reference<Duration.Input>("svc/src/streams/StalledAfter", {
  defaultValue: () => "60 seconds"
})

const maxSocketsPerSubject = 1000

const closeOf = (cause: Cause.Cause<ApiError>): readonly [code: number, reason: string] => {
  const failure = cause.reasons.find(Cause.isFailReason)?.error
  if (failure === undefined) return [1011, "The server failed on this stream."]
  return failure.status === 401 ? [4401, "The credential is no longer valid."] : [4403, "The access has ended."]
}

/**
 * WebSockets of live streams. A socket gets its next frame only after the previous frame has left the server's buffer. A
 * slow reader therefore uses the memory of one frame, and later frames remain in the ledger until the reader is ready for
 * them. A reader that stalls is disconnected.
 */
export class WebSockets extends Context.Service<
  WebSockets,
  {
    /** Admits a socket. Fails if the subject already has too many open sockets. */
    readonly admit: (subject: string) => Effect.Effect<void, ApiError>
    readonly open: (subscription: RunFrames, sink: SocketSink) => SocketSession
    /** Closes every socket with code 1012 and the position from which to resume. */
    readonly drain: Effect.Effect<void>
    readonly count: () => number
  }
>()("svc/src/streams/WebSockets") {
  static readonly layer = Layer.effect(
    WebSockets,
    Effect.gen(function* () {
      const fibers = yield* FiberSet.make<void>()
      const fork = yield* FiberSet.runtime(fibers)<never>()
      const stalledAfter = yield* StalledAfter
      const perSubject = new Map<string, number>()
      const sessions = new Set<{ readonly fiber: Fiber.Fiber<void>; readonly farewell: () => void }>()

      const count = (subject: string, change: 1 | -1) => {
        const left = (perSubject.get(subject) ?? 0) + change
        if (left === 0) perSubject.delete(subject)
        else perSubject.set(subject, left)
      }

      const open = (subscription: RunFrames, sink: SocketSink): SocketSession => {
        let drained: Deferred.Deferred<void> | undefined
        let last = subscription.after
        const send = (frame: RunFrame): Effect.Effect<void> => {
          const sent = sink.send(frame.text)
          if (sent === 0) return Effect.interrupt
          last = frame.last
          if (sent > 0) return Effect.void
          drained = Deferred.makeUnsafe()
          return Deferred.await(drained).pipe(
            Effect.timeoutOrElse({
              duration: stalledAfter,
              orElse: () => Effect.andThen(Effect.sync(sink.terminate), Effect.interrupt)
            })
          )
        }
        const delivery = subscription.deliver(send).pipe(
          Effect.onExit((exit) => {
            if (Exit.isSuccess(exit)) {
              return Effect.sync(() => {
                sink.send(doneText)
                sink.close(1000, "done")
              })
            }
            if (Cause.hasInterruptsOnly(exit.cause)) return Effect.void
            const [code, reason] = closeOf(exit.cause)
            const log =
              code === 1011
                ? Effect.logError("A live stream failed", exit.cause).pipe(
                    Effect.annotateLogs({ requestId: subscription.requestId })
                  )
                : Effect.void
            return Effect.andThen(
              log,
              Effect.sync(() => sink.close(code, reason))
            )
          }),
          Effect.ignore
        )
        count(subscription.subject, 1)
        const session = {
          fiber: fork(delivery),
          farewell: () => {
            sink.send(JSON.stringify({ resumeAfter: last }))
            sink.close(1012, "The server is restarting.")
          }
        }
        sessions.add(session)
        return {
          drained: () => {
            const waiting = drained
            drained = undefined
            if (waiting !== undefined) Deferred.doneUnsafe(waiting, Effect.void)
          },
          closed: () => {
            if (!sessions.delete(session)) return
            count(subscription.subject, -1)
            session.fiber.interruptUnsafe()
          }
        }
      }

      return WebSockets.of({
        open,
        count: () => sessions.size,
        admit: Effect.fn("WebSockets.admit")(function* (subject) {
          if ((perSubject.get(subject) ?? 0) < maxSocketsPerSubject) return
          return yield* new ApiError({
            code: "rate_limited",
            message: `This account holds ${maxSocketsPerSubject} live connections already. Close some first.`,
            retryAfter: 10
          })
        }),
        drain: Effect.gen(function* () {
          const leaving = [...sessions]
          yield* Fiber.interruptAll(leaving.map(({ fiber }) => fiber))
          yield* Effect.sync(() => {
            for (const { farewell } of leaving) farewell()
          })
        })
      })
    })
  )
}
