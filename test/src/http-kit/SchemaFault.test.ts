import { expect, test } from "bun:test"
import { OpenApi } from "effect/http-api"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { requestedName } from "../../../src/http-kit/SchemaFault.ts"

/** Collects every property and parameter name in the API description. */
const declaredNames = (value: unknown, names = new Set<string>()): ReadonlySet<string> => {
  if (typeof value !== "object" || value === null) return names
  if ("properties" in value && typeof value.properties === "object")
    Object.keys(value.properties ?? {}).forEach((name) => names.add(name))
  if ("in" in value && "name" in value && typeof value.name === "string") names.add(value.name)
  Object.values(value).forEach((inner) => declaredNames(inner, names))
  return names
}

test("validation messages may contain every field name that the API declares", () => {
  const names = [...declaredNames(OpenApi.fromApi(SvcApi))]
  expect(names.length).toBeGreaterThan(300)
  expect(names.filter((name) => requestedName(name) !== name)).toEqual([])
})
