import { expect } from "bun:test"
import { Duration, Effect, Layer } from "effect"
import { ConfigReader } from "../../../runner/scan/ConfigReader.ts"
import { HclParser, type HclVerdict } from "../../../runner/scan/HclParser.ts"
import { it } from "../../support/Effect.ts"

/** Creates a parser that returns prepared results and records its calls. */
const parserThatSays = (verdict: HclVerdict) => {
  const asked: Array<string> = []
  const parser = Layer.succeed(HclParser, {
    parse: (text) =>
      Effect.sync(() => {
        asked.push(text)
        return verdict
      })
  })
  return { asked, layer: ConfigReader.layerWithoutParser.pipe(Layer.provide(parser)) }
}

const bytes = (text: string) => new TextEncoder().encode(text)

it.effect("the configuration reader parses equal content only once", () => {
  const { asked, layer } = parserThatSays({ _tag: "Parsed", json: '{"output":{"o":[{}]}}' })
  return Effect.gen(function* () {
    const { read } = yield* ConfigReader
    const first = yield* read(bytes('output "o" {\n}\n'), "hcl")
    expect(first.blocks.map(({ labels }) => labels)).toEqual([["o"]])
    expect(yield* read(bytes('output "o" {\n}\n'), "hcl")).toEqual(first)
    expect(asked.length).toBe(1)
    yield* read(bytes('output "o" {\n\n}\n'), "hcl")
    expect(asked.length).toBe(2)
  }).pipe(Effect.provide(layer))
})

it.effect(
  "a file whose parsing missed the deadline is parsed again, because the machine may only have been slow",
  () => {
    const { asked, layer } = parserThatSays({ _tag: "Abandoned", reason: "deadline" })
    return Effect.gen(function* () {
      const { read } = yield* ConfigReader
      const { problems } = yield* read(bytes("locals {\n}\n"), "hcl")
      expect(problems.map(({ code }) => code)).toEqual(["parse_deadline"])
      yield* read(bytes("locals {\n}\n"), "hcl")
      expect(asked.length).toBe(2)
    }).pipe(Effect.provide(layer), Effect.timeout(Duration.minutes(1)))
  }
)

it.effect("the configuration reader rejects the parser's result if its blocks differ from the outline", () => {
  const disagreements = [
    "{}",
    '{"output":{"o":[{},{}]}}',
    '{"output":{"p":[{}]}}',
    '{"output":1}',
    '{"output":{"o":[{}]},"provider":{"x":[{}]}}'
  ]
  return Effect.forEach(disagreements, (json) => {
    const { layer } = parserThatSays({ _tag: "Parsed", json })
    return Effect.gen(function* () {
      const { problems } = yield* Effect.flatMap(ConfigReader, ({ read }) => read(bytes('output "o" {\n}\n'), "hcl"))
      expect([json, problems.map(({ code }) => code)]).toEqual([json, ["parser_disagreement"]])
    }).pipe(Effect.provide(layer))
  })
})
