import { Schema, SchemaTransformation } from "effect"
import { normalizeProviderAddress } from "./NormalizeProviderAddress.ts"

/** A provider's address, in any spelling. */
export const GivenProviderAddress = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(512)).pipe(
  Schema.decodeTo(
    Schema.String,
    SchemaTransformation.transform<string, string>({ decode: normalizeProviderAddress, encode: (address) => address })
  )
)
