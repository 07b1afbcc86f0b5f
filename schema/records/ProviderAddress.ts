import { Schema, SchemaTransformation } from "effect"
import { normaliseProviderAddress } from "./NormaliseProviderAddress.ts"

/** A provider address in any spelling. */
export const GivenProviderAddress = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(512)).pipe(
  Schema.decodeTo(
    Schema.String,
    SchemaTransformation.transform<string, string>({ decode: normaliseProviderAddress, encode: (address) => address })
  )
)
