import { Effect, Schema } from "effect"
import { invalidRequest } from "../../schema/errors/ApiError.ts"
import type { JsonLimits } from "../../schema/json/JsonLimits.ts"
import { displayText } from "../../schema/records/Primitives.ts"
import { readJsonBody } from "../http-kit/RequestBody.ts"

const limits: JsonLimits = {
  maxBytes: 65_536,
  maxDepth: 16,
  maxNodes: 1000,
  maxKeyBytes: 128,
  maxStringBytes: 32_768
}

/**
 * Reads the body of an authentication route. Refuses unknown members. Errors describe only the shape of the body and never quote
 * it, because these bodies contain secrets.
 */
export const authBody = <A, I>(schema: Schema.Codec<A, I>, shape: string) =>
  Effect.flatMap(readJsonBody(limits), (value) =>
    Schema.decodeUnknownEffect(schema)(value ?? {}, { onExcessProperty: "error" }).pipe(
      Effect.mapError(() => invalidRequest(`The body is not valid. Expected ${shape}, and nothing else.`))
    )
  )

/** A secret in a request body, redacted as soon as it is decoded. */
export const SecretText = Schema.RedactedFromValue(Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(1024)))

/** Fields that redeem a setup link, in addition to the new credential. */
export const redemptionFields = {
  secret: SecretText,
  email: Schema.optionalKey(Schema.String),
  displayName: Schema.optionalKey(displayText(80))
}
