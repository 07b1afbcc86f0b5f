import { Effect, Layer, Redacted, Schema } from "effect"
import { ModuleRunner } from "../../../runner/execution/ModuleRunner.ts"

/** How much the states and plans of `withLargeStates` contain. */
export interface StateSize {
  readonly resources: number
  readonly outputs: number
}

const attributeBytes = 1000

const encodeState = Schema.encodeSync(Schema.fromJsonString(Schema.Json))

const resourcesOf = (count: number, serial: number) =>
  Array.from({ length: count }, (_, index) => ({
    mode: "managed",
    type: "example_object",
    name: "it",
    provider: 'provider["registry.opentofu.org/acme/example"]',
    instances: [
      {
        index_key: `key ${index}`,
        attributes: { id: `object-${index}`, serial, text: `${index} `.padEnd(attributeBytes, "text ") }
      }
    ]
  }))

const outputsOf = (count: number, serial: number) =>
  Array.from({ length: count }, (_, index) => ({
    name: `output_${index}`,
    type: "string",
    value: Redacted.make(`value ${serial} of output ${index}`),
    sensitive: index % 2 === 0,
    origins: undefined
  }))

/** Replaces the states that a simulated runner writes by large ones, in which each apply changes every object and Output. */
export const withLargeStates = ({ outputs, resources }: StateSize) =>
  Layer.effect(
    ModuleRunner,
    Effect.map(ModuleRunner, (simulated) =>
      ModuleRunner.of({
        ...simulated,
        plan: (job, options) =>
          Effect.map(simulated.plan(job, options), (planned) => ({
            ...planned,
            resourceChanges: Array.from({ length: resources }, (_, index) => ({
              address: `example_object.it["key ${index}"]`,
              mode: "managed" as const,
              type: "example_object",
              name: "it",
              changedAttributes: [],
              actions: ["update" as const],
              provider: "registry.opentofu.org/acme/example"
            })),
            plannedOutputs: outputsOf(outputs, 0).map(({ name, sensitive }) => ({ name, sensitive, unknown: true }))
          })),
        apply: (job, options) =>
          Effect.map(simulated.apply({ ...job, state: undefined }, options), (applied) => {
            const serial = Date.now()
            const written = outputsOf(outputs, serial)
            const state = encodeState({
              version: 4,
              serial,
              lineage: applied.lineage ?? "",
              outputs: Object.fromEntries(
                written.map(({ name, sensitive, type, value }) => [
                  name,
                  { type, value: Redacted.value(value), ...(sensitive ? { sensitive } : {}) }
                ])
              ),
              resources: resourcesOf(resources, serial)
            })
            return {
              ...applied,
              state: Redacted.make(new TextEncoder().encode(state)),
              serial,
              resourceCount: resources,
              outputs: written
            }
          })
      })
    )
  )
