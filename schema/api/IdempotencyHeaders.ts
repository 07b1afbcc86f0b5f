import { Schema } from "effect"

const grammar = "1 to 128 of A-Z a-z 0-9 . _ ~ : -"

const required = `Makes the request repeatable without a second effect: ${grammar}. A request without it is refused with 400 \`idempotency_key_required\`.`

// Optional in the schema, because the handlers, not the decoder, reject a missing header with a special error code.
const header = (description: string) => ({
  "idempotency-key": Schema.optionalKey(Schema.String.annotate({ description }))
})

/** The header that makes it safe to repeat a create (specification, Limits). */
export const idempotencyHeaders = header(required)

/**
 * The same header for requests that svc accepts with or without it. Without the header, these requests are not safe to
 * repeat.
 */
export const optionalIdempotencyHeaders = header(
  `Makes the request repeatable: with the same key it answers with the same Run. ${grammar}.`
)

/** Returns true if a header with this description is the required idempotency key of a create. */
export const isRequiredKey = (description: unknown): boolean => description === required
