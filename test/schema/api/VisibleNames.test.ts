import { describe, expect, test } from "bun:test"
import { Schema, type SchemaAST } from "effect"
import { SvcApi } from "../../../schema/api/SvcApi.ts"

interface NamedField {
  readonly place: string
  readonly accepts: (text: string) => boolean
}

const namedFields = (ast: SchemaAST.AST, place: string): ReadonlyArray<NamedField> => {
  switch (ast._tag) {
    case "Objects":
      return ast.propertySignatures.flatMap(({ name, type }) => {
        const inside = `${place} ${String(name)}`
        const own = { place: inside, accepts: Schema.is(Schema.make<Schema.Codec<unknown>>(type)) }
        return [...(/^(?:name|displayName|automation)$/.test(String(name)) ? [own] : []), ...namedFields(type, inside)]
      })
    case "Union":
      return ast.types.flatMap((type) => namedFields(type, place))
    case "Arrays":
      return ast.rest.flatMap((type) => namedFields(type, place))
    default:
      return []
  }
}

const fields = Object.values(SvcApi.groups).flatMap((group) =>
  Object.values(group.endpoints).flatMap((endpoint) =>
    [...endpoint.payload.values()].flatMap(({ schemas }) =>
      schemas.flatMap((schema: Schema.Top) => namedFields(schema.ast, `${endpoint.method} ${endpoint.path}`))
    )
  )
)

// This field introduces no name: it contains the name that the module gave to an existing Output.
const references = new Set(["POST /api/v1/output-shares outputs name"])
const invisible = [
  "\u200b",
  "\u2060\ufeff",
  "\u3164",
  "\u2800",
  "\u00ad\u200d",
  "\u200e",
  "\u202e",
  "\u{e0041}",
  " ",
  ""
]

describe("Invisible names", () => {
  test("every request that contains a name rejects an invisible name", () => {
    expect(fields.length).toBeGreaterThan(15)
    expect(
      fields.filter(({ accepts, place }) => invisible.some((text) => accepts(text)) && !references.has(place))
    ).toEqual([])
  })
})
