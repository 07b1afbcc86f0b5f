import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { helperFamily } from "../../../schema/api/ExtensionFamily.ts"
import { extensions } from "../../../schema/api/Extensions.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"

const page = readFileSync(new URL("../../../docs/builders/specification.md", import.meta.url), "utf8")
/** Replaces path parameters with a placeholder, because their names are irrelevant. */
const shape = (route: string) => route.replace(/\{\w+\}|:\w+/g, "{}")
/** Rows of the endpoint tables in the specification. */
const specified = new Set(
  [...page.matchAll(/^\| (GET|POST|PUT|PATCH|DELETE) \| `([^`]+)` \|/gm)].map(([, method, path]) =>
    shape(`${method} ${path}`)
  )
)

/** Excluded: the list of families itself, and endpoints that the specification describes as retired. */
const neither = [
  "GET /api/v1/extensions",
  "PUT /api/v1/capsules/:capsuleId/provider-bindings",
  "PATCH /api/v1/capsule-configs/:capsuleConfigId"
]

test("every endpoint beyond the specification, and no other endpoint, belongs to a listed family", () => {
  expect(specified.size).toBeGreaterThan(90)
  const beyond = Object.values(SvcApi.groups)
    .flatMap(({ endpoints }) => Object.values(endpoints).map(({ method, path }) => `${method} ${path}`))
    .filter((route) => !specified.has(shape(route)) && !neither.includes(route))
  const listed = extensions.filter(({ name }) => name !== helperFamily).flatMap(({ endpoints }) => endpoints)
  expect(listed.toSorted()).toEqual(beyond.toSorted())
  expect(new Set(extensions.map(({ name }) => name)).size).toBe(extensions.length)
})

test("helper routes are a listed family despite being in the specification, because only some operators declare helpers", () => {
  const helpers = extensions.find(({ name }) => name === helperFamily)?.endpoints ?? []
  expect(helpers.map((route) => specified.has(shape(route)))).toEqual([true, true])
})
