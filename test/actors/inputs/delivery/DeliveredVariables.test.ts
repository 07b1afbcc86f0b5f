import { describe, expect, test } from "bun:test"
import { Redacted, Result } from "effect"
import {
  type DeliveredValues,
  deliveredVariables,
  introspectionShape,
  secretShapes
} from "../../../../actors/inputs/delivery/DeliveredVariables.ts"
import type { CompiledRequirement } from "../../../../schema/manifest/CompiledInstall.ts"
import type { DeclaredVariable } from "../../../../schema/records/InstallConfig.ts"
import { declared } from "../../support/DeclaredVariables.ts"

const hosted = (name: string, type?: DeclaredVariable["type"]) => declared(name, type, "host")

const variable = (slot: string, name: string) => ({ slot, lane: "variable" as const, name })
const binding = (slot: string, name: string) => ({ slot, lane: "binding" as const, name })

const secret = (delivery: ReturnType<typeof variable> | ReturnType<typeof binding>): CompiledRequirement => ({
  kind: "secret.generated",
  bytes: 32,
  encoding: "hex",
  deliveries: [delivery]
})

const values: DeliveredValues = {
  endpoint: { url: "https://a.example.com" },
  identity: { accountsUrl: "https://s", issuerUrl: "https://s", clientId: "oidc_x", redirectUri: "https://a/cb" },
  secrets: new Map([
    ["variable:key", Redacted.make("aa")],
    ["binding:KEY", Redacted.make("bb")],
    ["binding:__proto__", Redacted.make("cc")]
  ])
}

const delivered = (requires: ReadonlyArray<CompiledRequirement>, variables: ReadonlyArray<DeclaredVariable>) =>
  Result.match(deliveredVariables(requires, values, variables), {
    onFailure: ({ code }) => code,
    onSuccess: (found) =>
      [...found].map(([name, { sensitive, value }]) => ({ name, sensitive, value: Redacted.value(value) }))
  })

describe("deliveries", () => {
  test.each([
    ["the variable oidc_introspection_secret", variable("value", "oidc_introspection_secret"), true],
    ["the binding OIDC_INTROSPECTION_SECRET", binding("value", "OIDC_INTROSPECTION_SECRET"), true],
    ["another variable", variable("value", "OIDC_INTROSPECTION_SECRET"), false],
    ["another binding", binding("value", "oidc_introspection_secret"), false],
    ["a variable whose name begins alike", variable("value", "oidc_introspection_secret_2"), false]
  ] as const)("the generated secret for %s can introspect tokens: %p", (_, delivery, introspects) => {
    const shapes = secretShapes([secret(variable("value", "key")), secret(delivery)])
    expect(introspectionShape(shapes)).toEqual(introspects ? shapes[1] : undefined)
  })

  test("a secret is delivered as a sensitive variable, regardless of the module's declaration", () => {
    expect(delivered([secret(variable("value", "key"))], [hosted("key")])).toEqual([
      { name: "key", sensitive: true, value: "aa" }
    ])
  })

  test("Interface bindings are delivered as one map, which is sensitive if any entry is", () => {
    const endpoint: CompiledRequirement = { kind: "http.endpoint", deliveries: [binding("url", "APP_URL")] }
    expect(delivered([endpoint], [hosted("env", "json")])).toEqual([
      { name: "env", sensitive: false, value: { APP_URL: "https://a.example.com" } }
    ])
    expect(delivered([endpoint, secret(binding("value", "KEY"))], [hosted("env", "json")])).toEqual([
      { name: "env", sensitive: true, value: { APP_URL: "https://a.example.com", KEY: "bb" } }
    ])
  })

  test("an Interface binding named __proto__ is delivered as an ordinary map entry", () => {
    const [env] = Result.getOrThrow(
      deliveredVariables([secret(binding("value", "__proto__"))], values, [hosted("env", "json")])
    ).values()
    const value: unknown = env === undefined ? undefined : Redacted.value(env.value)
    expect(JSON.stringify(value)).toBe('{"__proto__":"cc"}')
  })

  test("a slot that the operator has not assigned is omitted", () => {
    const requirement: CompiledRequirement = { kind: "http.endpoint", deliveries: [variable("subdomain", "sub")] }
    expect(delivered([requirement], [hosted("sub")])).toBe("endpoint_not_available")
  })

  test("svc rejects a Run if its commit does not declare a delivered variable or declares it with another type", () => {
    const requirement = secret(variable("value", "key"))
    expect(delivered([requirement], [])).toBe("delivery_target_missing")
    expect(delivered([requirement], [hosted("key", "number")])).toBe("delivery_target_missing")
    expect(delivered([secret(binding("value", "KEY"))], [hosted("env")])).toBe("delivery_target_missing")
  })

  test("each delivery target gets a different secret", () => {
    expect(secretShapes([secret(variable("value", "key")), secret(binding("value", "KEY"))])).toEqual([
      { target: "variable:key", bytes: 32, encoding: "hex" },
      { target: "binding:KEY", bytes: 32, encoding: "hex" }
    ])
  })
})
