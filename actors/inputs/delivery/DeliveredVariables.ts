import { Redacted, Result } from "effect"
import type { RunVariable } from "../../../runner/execution/RunJob.ts"
import { bindingEnvironmentVariable, type CompiledRequirement } from "../../../schema/manifest/CompiledInstall.ts"
import type { DeclaredVariable } from "../../../schema/records/InstallConfig.ts"
import { type DeliveryRefused, refused } from "./DeliveryRefused.ts"
import type { EndpointValues } from "./Endpoints.ts"
import type { SecretShape } from "./GeneratedSecrets.ts"
import type { IdentityValues } from "./IdentityCapability.ts"

/** The requirements of a configuration, as resolved for the Capsule. */
export interface DeliveredValues {
  readonly endpoint?: EndpointValues | undefined
  readonly identity?: IdentityValues | undefined
  /** By `SecretShape.target`. */
  readonly secrets: ReadonlyMap<string, Redacted.Redacted<string>>
}

type Delivering = Exclude<CompiledRequirement, { readonly kind: "interface.consume" }>

export const isDelivering = (requirement: CompiledRequirement): requirement is Delivering =>
  requirement.kind !== "interface.consume"

export const targetOf = ({ lane, name }: Delivering["deliveries"][number]): string => `${lane}:${name}`

/** Returns the secrets that a configuration requires, one per target. Two targets never share a secret. */
export const secretShapes = (requires: ReadonlyArray<CompiledRequirement>): ReadonlyArray<SecretShape> =>
  requires.flatMap((requirement) =>
    requirement.kind === "secret.generated"
      ? requirement.deliveries.map((delivery) => ({
          target: targetOf(delivery),
          bytes: requirement.bytes,
          encoding: requirement.encoding
        }))
      : []
  )

/** Variables that deliver a secret with which the module can introspect tokens of the Capsule's client. */
const introspectionTargets: ReadonlyArray<string> = [
  "variable:oidc_introspection_secret",
  "binding:OIDC_INTROSPECTION_SECRET"
]

/** Returns the generated secret that can also be used for token introspection, if any. */
export const introspectionShape = (shapes: ReadonlyArray<SecretShape>): SecretShape | undefined =>
  shapes.find(({ target }) => introspectionTargets.includes(target))

const slotValue = (values: object | undefined, slot: string): string | undefined => {
  const found: unknown = Object.entries(values ?? {}).find(([name]) => name === slot)?.[1]
  return typeof found === "string" ? found : undefined
}

const valueOf = (
  requirement: Delivering,
  delivery: Delivering["deliveries"][number],
  values: DeliveredValues
): Redacted.Redacted<string> | undefined => {
  if (requirement.kind === "secret.generated") return values.secrets.get(targetOf(delivery))
  const found = slotValue(requirement.kind === "http.endpoint" ? values.endpoint : values.identity, delivery.slot)
  return found === undefined ? undefined : Redacted.make(found)
}

/** Returns the variables that svc fills in for a configuration, with their required types. */
export const deliveryTargets = (
  requires: ReadonlyArray<CompiledRequirement>
): ReadonlyMap<string, DeclaredVariable["type"]> =>
  new Map(
    requires
      .filter(isDelivering)
      .flatMap(({ deliveries }) =>
        deliveries.map(({ lane, name }) =>
          lane === "binding" ? ([bindingEnvironmentVariable, "json"] as const) : ([name, "string"] as const)
        )
      )
  )

/** Checks that the module declares the variable with the right type. */
export const checkTarget = (
  name: string,
  type: DeclaredVariable["type"],
  declared: ReadonlyMap<string, DeclaredVariable>
): DeliveryRefused | undefined =>
  declared.get(name)?.type === type
    ? undefined
    : refused(
        "delivery_target_missing",
        `The configuration delivers to the variable ${name}, which this commit of the module does not declare as ${type === "json" ? "a map" : `a ${type}`}. Install the module again to use its manifest.`
      )

/**
 * Returns the delivered variables with their values: one variable per delivery, and `env` for all runtime bindings.
 * Generated secrets are sensitive even if the module does not declare them as sensitive.
 */
export const deliveredVariables = (
  requires: ReadonlyArray<CompiledRequirement>,
  values: DeliveredValues,
  variables: ReadonlyArray<DeclaredVariable>
): Result.Result<ReadonlyMap<string, RunVariable>, DeliveryRefused> => {
  const declared = new Map(variables.map((variable) => [variable.name, variable]))
  const delivered = new Map<string, RunVariable>()
  const bindings: Array<readonly [name: string, value: string]> = []
  let secretBindings = false
  for (const requirement of requires.filter(isDelivering)) {
    const sensitive = requirement.kind === "secret.generated"
    for (const delivery of requirement.deliveries) {
      const value = valueOf(requirement, delivery, values)
      if (value === undefined) {
        return Result.fail(
          refused(
            "endpoint_not_available",
            `The module needs the ${delivery.slot} of ${requirement.kind}, which the operator's assignment does not name.`
          )
        )
      }
      if (delivery.lane === "binding") {
        bindings.push([delivery.name, Redacted.value(value)])
        secretBindings ||= sensitive
        continue
      }
      const problem = checkTarget(delivery.name, "string", declared)
      if (problem !== undefined) return Result.fail(problem)
      const marked = sensitive || declared.get(delivery.name)?.sensitive === true
      delivered.set(delivery.name, { value, sensitive: marked })
    }
  }
  if (bindings.length > 0) {
    const problem = checkTarget(bindingEnvironmentVariable, "json", declared)
    if (problem !== undefined) return Result.fail(problem)
    const marked = secretBindings || declared.get(bindingEnvironmentVariable)?.sensitive === true
    delivered.set(bindingEnvironmentVariable, { value: Redacted.make(Object.fromEntries(bindings)), sensitive: marked })
  }
  return Result.succeed(delivered)
}
