import { Effect } from "effect"
import type { ClusterError } from "effect/cluster"
import { ApiError } from "../schema/errors/ApiError.ts"

type Undelivered =
  | ClusterError.MailboxFull
  | ClusterError.AlreadyProcessingMessage
  | ClusterError.PersistenceError
  | ClusterError.EntityNotAssignedToRunner

const isApiError = (error: ApiError | Undelivered): error is ApiError => error._tag === "ApiError"

/** An actor's reply as its clients see it: a full mailbox is a retryable 429, anything else undelivered is a defect. */
export const answered = <A, R>(reply: Effect.Effect<A, ApiError | Undelivered, R>): Effect.Effect<A, ApiError, R> =>
  Effect.catch(reply, (error) => {
    if (isApiError(error)) return Effect.fail(error)
    if (error._tag !== "MailboxFull") return Effect.die(error)
    return Effect.fail(
      new ApiError({
        code: "rate_limited",
        message: "Too many commands are waiting for this record. Try again shortly.",
        retryAfter: 1
      })
    )
  })

/** A hand-over within the sender's transaction: the message takes effect when the transaction commits. */
export const handedOver = <A, R>(sent: Effect.Effect<A, Undelivered, R>): Effect.Effect<void, never, R> =>
  Effect.asVoid(Effect.orDie(sent))
