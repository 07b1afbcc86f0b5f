import { Effect, Schema } from "effect"
import { isSqlError, type SqlError } from "effect/sql/SqlError"

/**
 * Raised if a database cannot be moved or a move was aborted. The source database is unchanged and remains current.
 */
export class MoveRefused extends Schema.TaggedError<MoveRefused>()("MoveRefused", { message: Schema.String }) {}

/** Converts failures to open a database into refusals. Passes on failures of statements. */
export const refusing = <A, E extends { readonly message: string }, R>(effect: Effect.Effect<A, E | SqlError, R>) =>
  Effect.mapError(effect, (error): MoveRefused | SqlError => {
    if (error instanceof MoveRefused || isSqlError(error)) return error
    return new MoveRefused({ message: error.message })
  })

/** Describes a failed statement with the database's own message. */
export const sqlFailure = ({ message, reason: { cause } }: SqlError): string =>
  cause instanceof Error && !message.includes(cause.message) ? `${message} (${cause.message})` : message
