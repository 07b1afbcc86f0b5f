import { Effect, Schema } from "effect"
import { isSqlError, type SqlError } from "effect/sql/SqlError"

/** A database cannot be moved, or a move stopped. The moved database is unchanged and remains the current one. */
export class MoveRefused extends Schema.TaggedError<MoveRefused>()("MoveRefused", { message: Schema.String }) {}

/** Turns the failures of a database that is opened, other than those of its statements, into refusals. */
export const refusing = <A, E extends { readonly message: string }, R>(effect: Effect.Effect<A, E | SqlError, R>) =>
  Effect.mapError(effect, (error): MoveRefused | SqlError => {
    if (error instanceof MoveRefused || isSqlError(error)) return error
    return new MoveRefused({ message: error.message })
  })

/** Describes the failure of a statement by the words of the database. */
export const sqlFailure = ({ message, reason: { cause } }: SqlError): string =>
  cause instanceof Error && !message.includes(cause.message) ? `${message} (${cause.message})` : message
