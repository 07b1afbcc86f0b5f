import { Clock, Effect, Result, Schema } from "effect"
import { parseRepositoryManifest } from "../../schema/manifest/ManifestParser.ts"
import { type JsonObject, fullModule, userInput } from "../schema/manifest/ManifestFixture.ts"
import { type Figure, median, processorMillis } from "./support/Figures.ts"

const rounds = 21
const documentBytes = 131_072
const encoder = new TextEncoder()

/** Raised if a manifest does not have the properties that its figure assumes. */
class WrongVerdict extends Schema.TaggedError<WrongVerdict>()("WrongVerdict", { message: Schema.String }) {}

const inputsOf = (count: number, more: JsonObject = {}): JsonObject => ({
  inputs: Array.from({ length: count }, (_, index) => userInput(`variable_${index}`, { type: "string", ...more }))
})

/** A manifest with the maximum number of modules, each with `perModule` inputs, and a module that uses every field. */
const documentOf = (perModule: number, more: JsonObject = {}): JsonObject => {
  const modules: Record<string, Schema.Json> = { ".": fullModule }
  const whole = (): JsonObject => ({ apiVersion: "svc.com/v2.4", kind: "Repository", install: { modules } })
  for (let index = 0; index < 31; index++) {
    const name = `module-${index}`
    modules[name] = inputsOf(perModule, more)
    if (encoder.encode(JSON.stringify(whole())).length <= documentBytes) continue
    delete modules[name]
    break
  }
  return whole()
}

/** A document of exactly the maximum length. */
const filled = (text: string): Uint8Array => {
  const bytes = encoder.encode(text)
  const whole = new Uint8Array(documentBytes).fill(0x20)
  whole.set(bytes.subarray(0, documentBytes))
  return whole
}

const repeated = (part: string, ending = ""): Uint8Array =>
  filled(part.repeat(Math.floor((documentBytes - ending.length) / part.length)) + ending)

const manyStrings = (text: string) => repeated(`"${text}",`, '""]').fill("[".charCodeAt(0), 0, 1)

/** Rejected documents, each expensive to reject for a different reason. */
const hostile: Readonly<Record<string, Uint8Array>> = {
  "deep nesting": repeated("["),
  "many small values": filled(`[${"0,".repeat(documentBytes / 2 - 2)}0]`),
  "many empty objects": filled(`[${"{},".repeat(Math.floor(documentBytes / 3) - 2)}{}]`),
  "duplicate keys": filled(`{${'"a":1,'.repeat(Math.floor(documentBytes / 6) - 2)}"a":1}`),
  "one long string": filled(`{"apiVersion":"${"\\u0061".repeat(Math.floor(documentBytes / 6) - 10)}"}`),
  "long runs for patterns": manyStrings(`${"a-".repeat(2000)}!`),
  "unknown field in every input": filled(JSON.stringify(documentOf(43, { unknown: 1 }))),
  "secret-like text in every input": filled(JSON.stringify(documentOf(43, { placeholder: `AKIA${"A".repeat(16)}` }))),
  "cut off at the last byte": filled(JSON.stringify(documentOf(43)).slice(0, -1))
}

const millisOf = Effect.fnUntraced(function* (bytes: Uint8Array, accepted: boolean, name: string) {
  const times: Array<number> = []
  const before = yield* processorMillis
  for (let round = 0; round < rounds; round++) {
    const started = yield* Clock.currentTimeNanos
    const parsed = parseRepositoryManifest(bytes)
    times.push(Number((yield* Clock.currentTimeNanos) - started) / 1e6)
    if (Result.isSuccess(parsed) === accepted) continue
    const why = Result.isFailure(parsed) ? `: ${JSON.stringify(parsed.failure).slice(0, 300)}` : ""
    return yield* new WrongVerdict({ message: `${name} was ${accepted ? "refused" : "accepted"}${why}` })
  }
  return { millis: median(times), processor: ((yield* processorMillis) - before) / rounds }
})

/**
 * Measures how long svc takes to parse and validate the largest possible manifest, and to reject the most expensive manifests of
 * that size.
 */
export const manifests = Effect.gen(function* () {
  const maximal = yield* millisOf(filled(JSON.stringify(documentOf(43))), true, "the maximal manifest")
  const refused: Array<{ readonly name: string; readonly millis: number; readonly processor: number }> = []
  for (const [name, bytes] of Object.entries(hostile)) refused.push({ name, ...(yield* millisOf(bytes, false, name)) })
  const [worst = { name: "none", millis: Number.NaN, processor: Number.NaN }] = refused.toSorted(
    (a, b) => b.millis - a.millis
  )
  const figures: ReadonlyArray<Figure> = [
    {
      name: "parse and validate a maximal manifest of 128 KiB",
      figure: maximal.millis,
      unit: "ms",
      target: { atMost: 10 },
      detail: `processor time ${maximal.processor.toFixed(1)} ms`
    },
    {
      name: "refuse a hostile manifest of 128 KiB, the slowest kind",
      figure: worst.millis,
      unit: "ms",
      target: { atMost: 20 },
      detail: `${worst.name}, processor time ${worst.processor.toFixed(1)} ms; ${refused.length} kinds`
    }
  ]
  return figures
})
