// Runs the raw request corpus against the current runtime's listener, and prints the differences from the recorded
// responses.
import { Console, Effect, Layer, References } from "effect"
import { platform } from "../../../src/composition/Platform.ts"
import { answersIn, corpus, exchange } from "../../src/http/raw/RawExchange.ts"
import { TestApplication } from "../../src/http/support/TestApplication.ts"
import { TestServer } from "../../src/http/support/TestServer.ts"

const program = Effect.gen(function* () {
  const { port } = yield* TestServer
  const requests = yield* corpus
  const different = yield* Effect.forEach(
    requests,
    ({ answers, name, request }) =>
      Effect.map(exchange(port, request), (text) => ({ name, expected: answers, found: answersIn(text) })),
    { concurrency: 8 }
  )
  // Prints each difference without escaping.
  for (const { expected, found, name } of different) {
    if (expected.join() !== found.join()) yield* Console.log(`${name}: ${found.join()}`)
  }
})

void Effect.runPromise(
  program.pipe(
    Effect.provide(Layer.merge(TestServer.layer.pipe(Layer.provideMerge(TestApplication.layer)), platform)),
    Effect.provideService(References.MinimumLogLevel, "Error")
  )
)
