import { Schema } from "effect"

const grammar = "1 to 128 of A-Z a-z 0-9 . _ ~ : -"

const required = `Makes the request repeatable without a second effect: ${grammar}. A request without it is refused with 400 \`idempotency_key_required\`.`

// A missing header has its own error code, so the handlers check for it, not the decoder.
const header = (description: string) => ({
  "idempotency-key": Schema.optionalKey(Schema.String.annotate({ description }))
})

/** The header that makes a create repeatable without a second effect (specification, Limits). */
export const idempotencyHeaders = header(required)

/** For requests that are also accepted without the header, but then cannot be repeated safely. */
export const optionalIdempotencyHeaders = header(
  `Makes the request repeatable: with the same key it answers with the same Run. ${grammar}.`
)

/** True if a header with this description is the required idempotency key of a create. */
export const isRequiredKey = (description: unknown): boolean => description === required
