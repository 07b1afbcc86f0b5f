import { Effect, Schema, type Stream } from "effect"
import { HttpClientError } from "effect/http"
import { ApiError, invalidRequest } from "../../schema/errors/ApiError.ts"
import { Actor } from "./Actor.ts"

/**
 * The error if the server could not be reached or sent a response that this release cannot read. It never occurs if the
 * control plane is in the same process.
 */
export class TransportFailed extends Schema.TaggedError<TransportFailed>()("TransportFailed", {
  message: Schema.String,
  cause: Schema.Unknown
}) {}

/** A response that this release cannot read. */
export class UnreadableAnswer extends Schema.SchemaError {}

/**
 * The failure of a service method. `ApiError` is a refusal by the control plane, with a code, a message and a request id.
 */
export type SvcError = ApiError | TransportFailed

/** The result of a method of a service. */
export type Answer<A, E = never> = Effect.Effect<A, SvcError | E, Actor>

/** The result of a method that returns many items. */
export type Items<A, E = never> = Stream.Stream<A, SvcError | E, Actor>

const unreachable = "The server cannot be reached. Check its address, and whether it runs."

/** Converts a failure of the typed client to a failure of a service. A request that violates the API's schema is never sent. */
export const svcErrorOf = (error: unknown): SvcError => {
  if (error instanceof ApiError || error instanceof TransportFailed) return error
  if (Schema.isSchemaError(error) && !(error instanceof UnreadableAnswer)) {
    return invalidRequest(`The request is not valid. ${error.message}`)
  }
  const status = HttpClientError.isHttpClientError(error) ? error.response?.status : undefined
  const message =
    HttpClientError.isHttpClientError(error) && status === undefined
      ? unreachable
      : `The server answered${status === undefined ? "" : ` ${status}`} in a form that this release does not know. Compare its version.`
  return new TransportFailed({ message, cause: error })
}

/** Sends a request on behalf of the actor. */
export const answered = <A, E>(request: Effect.Effect<A, E>): Answer<A> =>
  Effect.andThen(Actor, Effect.mapError(request, svcErrorOf))
