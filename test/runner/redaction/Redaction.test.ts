import { describe, expect } from "bun:test"
import { Effect, Redacted, Stream } from "effect"
import { redactedLines } from "../../../runner/redaction/LogLines.ts"
import { Redaction } from "../../../runner/redaction/Redaction.ts"
import { redacted } from "../../../runner/redaction/RunRedactor.ts"
import { it } from "../../support/Effect.ts"

const secret = (origin: string, text: string) => ({ origin, value: Redacted.make(text) })

describe("redaction in a thread of its own", () => {
  it.live("hides texts, values and streams, and follows secrets that are added", () =>
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

  it.live("keeps the secrets of one Run from another", () =>
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

  it.live("answers for more texts than are sent at once", () =>
    Effect.gen(function* () {
      const redactor = yield* (yield* Redaction).redactor([secret("env.A", "the-secret")])
      const texts = Array.from({ length: 9_000 }, (_, index) => `${index} the-secret`)
      const shown = yield* redacted(redactor, (hide) => texts.map((text) => hide.text(text)))
      expect(shown).toEqual(texts.map((_, index) => `${index} [redacted env.A]`))
    }).pipe(Effect.scoped, Effect.provide(Redaction.layer))
  )
})

const bytes = (text: string) => new TextEncoder().encode(text)
