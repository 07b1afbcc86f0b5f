import type { Effect, Stream } from "effect"
import type { ApiError } from "../../schema/errors/ApiError.ts"

/** The two durable sequences of a Run. */
export type RunSequence = "events" | "logs"

/** Part of a sequence as sent over the wire: a JSON string and its last sequence number. */
export interface RunFrame {
  readonly text: string
  readonly last: number
}

/**
 * One live subscription, regardless of transport: every frame after `after`, in order, without gaps or duplicates. It ends when
 * the Run is final and fails when the authority behind it is lost. It never reads ahead of the consumer.
 */
export interface RunFrames {
  readonly subject: string
  readonly requestId: string
  readonly after: number
  readonly frames: Stream.Stream<RunFrame, ApiError>
  /** The same frames, passed to `take` one at a time. */
  readonly deliver: (take: (frame: RunFrame) => Effect.Effect<void>) => Effect.Effect<void, ApiError>
}

/** The frame saying that nothing follows. */
export const doneText = JSON.stringify({ done: true })
