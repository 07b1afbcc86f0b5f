import { Schema } from "effect"

const Mask = Schema.optionalKey(Schema.NullOr(Schema.Json))

const Change = Schema.Struct({
  actions: Schema.Array(Schema.String),
  before: Mask,
  after: Mask,
  after_unknown: Mask,
  before_sensitive: Mask,
  after_sensitive: Mask,
  importing: Schema.optionalKey(Schema.NullOr(Schema.Struct({ id: Schema.optionalKey(Schema.NullOr(Schema.String)) }))),
  replace_paths: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.Json)))
})
export type PlannedChange = typeof Change.Type

const ResourceChange = Schema.Struct({
  address: Schema.String,
  deposed: Schema.optionalKey(Schema.String),
  previous_address: Schema.optionalKey(Schema.String),
  mode: Schema.optionalKey(Schema.String),
  type: Schema.String,
  name: Schema.String,
  provider_name: Schema.optionalKey(Schema.String),
  action_reason: Schema.optionalKey(Schema.String),
  change: Change
})
export type PlannedResourceChange = typeof ResourceChange.Type

const list = <S extends Schema.Constraint>(item: S) => Schema.optionalKey(Schema.NullOr(Schema.Array(item)))
const record = <S extends Schema.Constraint>(item: S) =>
  Schema.optionalKey(Schema.NullOr(Schema.Record(Schema.String, item)))

const CheckAddress = Schema.Struct({ kind: Schema.optionalKey(Schema.String), to_display: Schema.String })

const Check = Schema.Struct({
  address: CheckAddress,
  status: Schema.String,
  instances: list(
    Schema.Struct({
      address: CheckAddress,
      status: Schema.String,
      problems: list(Schema.Struct({ message: Schema.String }))
    })
  )
})
export type PlannedCheck = typeof Check.Type

/** A module in the configuration, with the references of its resources, calls and Outputs. */
export interface PlannedModule {
  readonly variables?: Readonly<Record<string, { readonly sensitive?: boolean }>> | null
  readonly resources?: ReadonlyArray<PlannedBlock> | null
  readonly module_calls?: Readonly<
    Record<string, Omit<PlannedBlock, "address"> & { readonly module?: PlannedModule | null }>
  > | null
  readonly outputs?: Readonly<
    Record<string, { readonly expression?: Schema.Json | null; readonly sensitive?: boolean }>
  > | null
}

const expressions = {
  expressions: Mask,
  count_expression: Mask,
  for_each_expression: Mask
}
const Block = Schema.Struct({ address: Schema.String, ...expressions })
export type PlannedBlock = typeof Block.Type

const Module: Schema.Codec<PlannedModule> = Schema.Struct({
  variables: record(Schema.Struct({ sensitive: Schema.optionalKey(Schema.Boolean) })),
  resources: list(Block),
  module_calls: record(
    Schema.Struct({
      ...expressions,
      module: Schema.optionalKey(Schema.NullOr(Schema.suspend((): Schema.Codec<PlannedModule> => Module)))
    })
  ),
  outputs: record(Schema.Struct({ expression: Mask, sensitive: Schema.optionalKey(Schema.Boolean) }))
})

/** The parts of the tool's JSON plan that svc uses. They contain sensitive values in plaintext. */
export const PlanDocument = Schema.Struct({
  format_version: Schema.String.check(Schema.isPattern(/^1\./, { description: "a plan format of major version 1" })),
  applyable: Schema.optionalKey(Schema.Boolean),
  errored: Schema.optionalKey(Schema.Boolean),
  resource_changes: list(ResourceChange),
  resource_drift: list(ResourceChange),
  output_changes: record(Change),
  checks: list(Check),
  variables: record(Schema.Struct({ value: Schema.optionalKey(Schema.Json) })),
  configuration: Schema.optionalKey(Schema.Struct({ root_module: Schema.optionalKey(Module) }))
})
export type PlanDocument = typeof PlanDocument.Type
