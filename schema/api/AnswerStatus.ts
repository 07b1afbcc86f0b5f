import type { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"

export const created = HttpApiSchema.status(201)

/** The success responses to a request with an `Idempotency-Key`: 201 for the first request and 200 for each repetition. */
export const repeatable = <S extends Schema.Top>(answer: S) => [answer.pipe(created), answer] as const

export const accepted = HttpApiSchema.status(202)
