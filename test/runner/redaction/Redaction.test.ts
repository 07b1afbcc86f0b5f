import { describe, expect } from "bun:test"
import { Effect, Layer, Redacted, type Scope, Stream } from "effect"
import { withheldOutputs } from "../../../runner/execution/OutputPrivacy.ts"
import { redactedLines } from "./support/RedactedLines.ts"
import { Redaction, redactionThreads, RedactionThreads } from "../../../runner/redaction/Redaction.ts"
import { redacted } from "../../../runner/redaction/RunRedactor.ts"
import { it } from "../../support/Effect.ts"

const secret = (origin: string, text: string) => ({ origin, value: Redacted.make(text) })

describe("Redaction thread", () => {
  it.live("the redaction thread hides strings, values and streams, and applies secrets added later", () =>
    Effect.gen(function* () {
      const redaction = yield* Redaction
      const redactor = yield* redaction.redactor([secret("env.TOKEN", "first-secret")])
      const shown = yield* redacted(redactor, (hide) => hide.json({ a: ["first-secret", 1], "first-secret": true }))
      expect(shown).toEqual({ a: ["[redacted env.TOKEN]", 1], "[redacted env.TOKEN]": true })
      yield* redactor.add([secret("state", "second-secret")])
      const lines = redactedLines(redactor)(Stream.fromIterable(["x second-", "secret y\nfirst-se", "cret"].map(bytes)))
      expect(yield* Stream.runCollect(lines)).toEqual(["x [redacted state] y", "[redacted env.TOKEN]"])
    }).pipe(Effect.scoped, Effect.provide(Redaction.layer))
  )

  it.live("the redaction thread keeps the secrets of different Runs apart", () =>
    Effect.gen(function* () {
      const redaction = yield* Redaction
      const one = yield* redaction.redactor([secret("env.A", "secret-of-one")])
      const other = yield* redaction.redactor([secret("env.B", "secret-of-other")])
      const text = "secret-of-one secret-of-other"
      const shown = yield* Effect.all(
        [one, other].map((redactor) => redacted(redactor, (hide) => hide.text(text))),
        { concurrency: "unbounded" }
      )
      expect(shown).toEqual(["[redacted env.A] secret-of-other", "secret-of-one [redacted env.B]"])
    }).pipe(Effect.scoped, Effect.provide(Redaction.layer))
  )

  it.live("the redaction thread handles more strings than fit into one message", () =>
    Effect.gen(function* () {
      const redactor = yield* (yield* Redaction).redactor([secret("env.A", "the-secret")])
      const texts = Array.from({ length: 9_000 }, (_, index) => `${index} the-secret`)
      const shown = yield* redacted(redactor, (hide) => texts.map((text) => hide.text(text)))
      expect(shown).toEqual(texts.map((_, index) => `${index} [redacted env.A]`))
    }).pipe(Effect.scoped, Effect.provide(Redaction.layer))
  )
})

/** The thread exits when it receives `the-thread-ends-here`, and rejects `a-secret-that-fails`. */
const breaking = Layer.fresh(Redaction.layer).pipe(
  Layer.provide(
    Layer.succeed(RedactionThreads, redactionThreads(new URL("./support/BreakingWorker.ts", import.meta.url)))
  )
)
const withBreaking = (body: Effect.Effect<void, unknown, Redaction | Scope.Scope>) => () =>
  body.pipe(Effect.scoped, Effect.provide(breaking))

const output = (name: string, value: string | number) => ({
  name,
  type: "string",
  value: Redacted.make(value),
  sensitive: false
})

describe("Failing redaction", () => {
  it.live(
    "after a redaction thread fails, all later output of its Runs is hidden and their Outputs are private",
    withBreaking(
      Effect.gen(function* () {
        const redaction = yield* Redaction
        const one = yield* redaction.redactor([secret("env.A", "secret-of-one")])
        const other = yield* redaction.redactor([secret("env.B", "secret-of-other")])
        const printed = [
          "before secret-of-one\n",
          "the-thread-ends-here secret-of-one\n",
          "after secret-of-one\n",
          "plain"
        ]
        const lines = redactedLines(one)(Stream.fromIterable(printed.map(bytes)))
        expect(yield* Stream.runCollect(lines)).toEqual([
          "before [redacted env.A]",
          "[redacted]",
          "[redacted]",
          "[redacted]"
        ])
        for (const redactor of [one, other]) {
          expect(yield* redacted(redactor, (hide) => hide.text("secret-of-other"))).toBe("[redacted]")
          const [text, number] = yield* withheldOutputs(redactor, [output("text", "public"), output("number", 7)])
          expect([text, number]).toMatchObject([
            { sensitive: true, origins: [] },
            { sensitive: true, origins: [] }
          ])
          // Adding a secret afterwards must not reveal hidden text.
          yield* redactor.add([secret("state", "another-secret")])
          expect(yield* redacted(redactor, (hide) => hide.text("public"))).toBe("[redacted]")
        }
        // The next Run gets a new thread.
        const next = yield* redaction.redactor([secret("env.C", "secret-of-next")])
        expect(yield* redacted(next, (hide) => hide.text("secret-of-next, public"))).toBe("[redacted env.C], public")
      })
    )
  )

  it.live(
    "a secret that cannot be searched for hides all output of its Run, but no output of other Runs",
    withBreaking(
      Effect.gen(function* () {
        const redaction = yield* Redaction
        const redactor = yield* redaction.redactor([secret("env.A", "secret-of-one")])
        const other = yield* redaction.redactor([secret("env.B", "secret-of-other")])
        yield* redactor.add([secret("state", "a-secret-that-fails")])
        const lines = redactedLines(redactor)(Stream.fromIterable(["a-secret-", "that-fails\n", "public"].map(bytes)))
        expect((yield* Stream.runCollect(lines)).join(" ").replaceAll("[redacted]", "").trim()).toBe("")
        const [held] = yield* withheldOutputs(redactor, [output("a", "a-secret-that-fails")])
        expect(held?.sensitive).toBe(true)
        expect(yield* redacted(other, (hide) => hide.text("secret-of-other, public"))).toBe("[redacted env.B], public")
      })
    )
  )
})

const bytes = (text: string) => new TextEncoder().encode(text)
