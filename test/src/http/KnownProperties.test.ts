import { expect } from "bun:test"
import { Arbitrary, Effect, Schema } from "effect"
import { HttpApi } from "effect/http-api"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { keepKnownProperties } from "../../../src/http/KnownProperties.ts"
import { it } from "../../support/Effect.ts"

/**
 * Routes whose responses still pass through the encoder, because they store addresses in another form, because events of
 * earlier releases may lack the identifying literal, or because they return bytes.
 */
const encoded = ["capsules.providerBindings", "exports.download", "runs.events"]

const answers = (() => {
  const found: Array<{ readonly name: string; readonly schema: Schema.Top }> = []
  HttpApi.reflect(SvcApi, {
    predicate: ({ endpoint }) => endpoint.method === "GET",
    onGroup: () => {},
    onEndpoint: ({ endpoint, group, successes }) => {
      for (const [schema] of successes.values()) {
        found.push({ name: `${group.identifier}.${endpoint.identifier}`, schema })
      }
    }
  })
  return found
})()

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Adds an unknown property to every object that has named properties. */
const withMore = (schema: Schema.Top, value: unknown): unknown => {
  const add = (ast: Schema.Top["ast"], part: unknown): unknown => {
    if (ast._tag === "Union") {
      const fitting = ast.types.find((type) => Schema.is(Schema.make(type))(part))
      return fitting === undefined ? part : add(fitting, part)
    }
    if (ast._tag === "Arrays" && Array.isArray(part)) {
      const [item] = ast.rest
      return item === undefined ? part : part.map((one) => add(item, one))
    }
    if (ast._tag !== "Objects" || !isObject(part) || ast.indexSignatures.length > 0) return part
    const types = new Map(ast.propertySignatures.map(({ name, type }) => [name, type]))
    const properties = Object.entries(part).map(([name, property]) => {
      const type = types.get(name)
      return [name, type === undefined ? property : add(type, property)]
    })
    return { ...Object.fromEntries(properties), sealed: "what no client may see" }
  }
  return add(schema.ast, value)
}

it.live("a response written without the codec equals the output of the encoder on every route", () =>
  Effect.gen(function* () {
    const left: Array<string> = []
    for (const { name, schema } of answers) {
      const keep = keepKnownProperties(schema.ast)
      if (keep === undefined) {
        left.push(name)
        continue
      }
      const encode = Schema.encodeUnknownSync(Schema.make<Schema.Codec<unknown, unknown>>(schema.ast))
      const samples = yield* Arbitrary.sampleEffect(Arbitrary.schema(schema), { count: 20, seed: 1 })
      for (const sample of samples) {
        const written = JSON.parse(JSON.stringify(encode(sample)))
        expect([name, JSON.parse(JSON.stringify(keep(sample)))]).toEqual([name, written])
        expect([name, JSON.parse(JSON.stringify(keep(withMore(schema, sample))))]).toEqual([name, written])
      }
    }
    expect(left).toEqual(encoded)
  })
)

it.live("kinds of objects are distinguished by their literals, and objects of unknown kinds are omitted", () =>
  Effect.sync(() => {
    const kinds = Schema.Union([
      Schema.Struct({ mode: Schema.Literal("off") }),
      Schema.Struct({ mode: Schema.Literal("every"), hours: Schema.Int })
    ])
    const keep = keepKnownProperties(Schema.Struct({ kind: kinds }).ast)
    expect(keep?.({ kind: { mode: "off", hours: 3 } })).toEqual({ kind: { mode: "off" } })
    expect(keep?.({ kind: { mode: "every", hours: 3, more: 1 } })).toEqual({ kind: { mode: "every", hours: 3 } })
    expect(keep?.({ kind: { mode: "else", more: 1 } })).toEqual({ kind: undefined })
    const alike = Schema.Union([Schema.Struct({ a: Schema.String }), Schema.Struct({ b: Schema.String })])
    expect(keepKnownProperties(alike.ast)).toBeUndefined()
    expect(keepKnownProperties(Schema.DateFromString.ast)).toBeUndefined()
  })
)
