import { afterAll, describe, expect } from "bun:test"
import { Duration, Effect, Fiber } from "effect"
import { HclParser } from "../../../runner/scan/HclParser.ts"
import { defaultScanLimits, ScanLimits } from "../../../runner/scan/ScanLimits.ts"
import { suite } from "../../support/Effect.ts"

const parser = suite(HclParser.layer)
afterAll(parser.dispose)

const parse = (text: string) => Effect.flatMap(HclParser, ({ parse }) => parse(text))
const stillWorks = Effect.gen(function* () {
  expect(yield* parse('output "o" {\n}\n')).toEqual({ _tag: "Parsed", json: '{"output":{"o":[{}]}}' })
})
const slowText = `a = {\n${Array.from({ length: 20_000 }, (_, key) => `  k${key} = ${key}\n`).join("")}}\n`

describe("HclParser", () => {
  parser.live("the HCL parser returns JSON text with exact numbers", () =>
    Effect.gen(function* () {
      const verdict = yield* parse('variable "a" {\n  default = 12345678901234567890\n}\n')
      expect(verdict).toEqual({ _tag: "Parsed", json: '{"variable":{"a":[{"default":12345678901234567890}]}}' })
    })
  )

  parser.live("the HCL parser gives every diagnostic a line number, but no file name", () =>
    Effect.gen(function* () {
      const verdict = yield* parse("\na = 'x'\nb = \"\\q\"\n")
      if (verdict._tag !== "Refused") throw new Error(`expected a refusal, got ${verdict._tag}`)
      expect(verdict.diagnostics.map(({ line }) => line)).toContain(2)
      expect(verdict.diagnostics.map(({ line }) => line)).toContain(3)
      expect(verdict.diagnostics[0]?.message).toStartWith("Invalid character; Single quotes are not valid.")
      expect(JSON.stringify(verdict)).not.toContain("file.tf")
    })
  )

  parser.live("the HCL parser survives nesting that overflows its stack", () =>
    Effect.gen(function* () {
      for (const bomb of ["[".repeat(5000), "!".repeat(50_000)]) {
        expect(yield* parse(`a = ${bomb}`)).toEqual({ _tag: "Abandoned", reason: "crash" })
        yield* stillWorks
      }
    })
  )

  parser.live("the HCL parser gives up on a file when the deadline passes", () =>
    Effect.gen(function* () {
      const limits = { ...defaultScanLimits, fileDeadline: Duration.millis(1) }
      const verdict = yield* parse(slowText).pipe(Effect.provideService(ScanLimits, limits))
      expect(verdict).toEqual({ _tag: "Abandoned", reason: "deadline" })
      yield* stillWorks
    })
  )

  parser.live("an interrupted file does not affect the parser's result for the next file", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(parse(slowText), { startImmediately: true })
      yield* Effect.yieldNow
      yield* Fiber.interrupt(fiber)
      yield* stillWorks
    })
  )

  parser.live("several concurrently parsed files each get their own result", () =>
    Effect.gen(function* () {
      const names = Array.from({ length: 20 }, (_, index) => `n${index}`)
      const verdicts = yield* Effect.forEach(names, (name) => parse(`output "${name}" {\n}\n`), {
        concurrency: "unbounded"
      })
      expect(verdicts.map((verdict) => verdict._tag === "Parsed" && verdict.json)).toEqual(
        names.map((name) => `{"output":{"${name}":[{}]}}`)
      )
    })
  )
})
