import { Schema } from "effect"

const names = Schema.optionalKey(Schema.NullOr(Schema.Record(Schema.String, Schema.Json)))

/** The parts of the tool's provider schemas that svc uses. */
export const ProviderSchemas = Schema.Struct({
  provider_schemas: Schema.optionalKey(
    Schema.Record(
      Schema.String,
      Schema.Struct({
        provider: Schema.optionalKey(
          Schema.Struct({ block: Schema.optionalKey(Schema.Struct({ attributes: names, block_types: names })) })
        )
      })
    )
  )
})
export type ProviderSchemas = typeof ProviderSchemas.Type
