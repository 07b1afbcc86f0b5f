import type { Effect, Stream } from "effect"
import type { ApiError } from "../../schema/errors/ApiError.ts"

/** The two durable sequences of a Run. */
export type RunSequence = "events" | "logs"

/** A part of a sequence as it is transmitted: a JSON string, and the last sequence number in this part. */
export interface RunFrame {
  readonly text: string
  readonly last: number
}

/**
 * A live subscription over any transport. Delivers every frame after `after`, in order, without gaps or duplicates. Ends when the
 * Run is final, and fails when the subscriber's authority is lost. Never reads ahead of the consumer.
 */
export interface RunFrames {
  readonly subject: string
  readonly requestId: string
  readonly after: number
  readonly frames: Stream.Stream<RunFrame, ApiError>
  /** Passes the frames to `take`, one at a time. */
  readonly deliver: (take: (frame: RunFrame) => Effect.Effect<void>) => Effect.Effect<void, ApiError>
}

/** Text of the frame that marks the end of the stream. */
export const doneText = JSON.stringify({ done: true })
