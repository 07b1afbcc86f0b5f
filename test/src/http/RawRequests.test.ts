import { afterAll, expect } from "bun:test"
import { Effect, Layer } from "effect"
import { suite } from "../../support/Effect.ts"
import { answersIn, corpus, exchange } from "./raw/RawExchange.ts"
import { origin, TestApplication } from "./support/TestApplication.ts"
import { TestServer } from "./support/TestServer.ts"

const tests = suite(TestServer.layer.pipe(Layer.provideMerge(TestApplication.layer)))
afterAll(tests.dispose)

tests.live(
  "ambiguous requests are rejected exactly as recorded in the corpus",
  () =>
    Effect.gen(function* () {
      const { port } = yield* TestServer
      const recorded = yield* corpus
      const found = yield* Effect.forEach(
        recorded,
        Effect.fnUntraced(function* ({ name, request }) {
          const text = yield* exchange(port, request)
          // Links contain the configured origin, never the request's host.
          expect(text).not.toContain("evil.example")
          expect(text).not.toContain("<html")
          if (text.includes('"product"')) expect(text).toContain(`"apiBaseUrl":"${origin}/api/v1"`)
          return { name, answers: answersIn(text) }
        }),
        { concurrency: 8 }
      )
      expect(found).toEqual(recorded.map(({ answers, name }) => ({ name, answers: [...answers] })))
      // No request in the corpus gets two responses, so no request can smuggle in a second request.
      expect(recorded.filter(({ answers }) => answers.length > 1)).toEqual([])
    }),
  30_000
)
