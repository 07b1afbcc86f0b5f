import { afterAll, expect } from "bun:test"
import { Effect, FileSystem, Layer, Schema } from "effect"
import { connect } from "node:net"
import { fileURLToPath } from "node:url"
import { suite } from "../../support/Effect.ts"
import { origin, TestApplication } from "./support/TestApplication.ts"
import { TestServer } from "./support/TestServer.ts"

const file = fileURLToPath(new URL("./raw/Corpus.json", import.meta.url))

/** Requests as bytes, with their answers: status and error code each, so one answer means one request served. */
const Corpus = Schema.fromJsonString(
  Schema.Array(Schema.Struct({ name: Schema.String, request: Schema.String, answers: Schema.Array(Schema.String) }))
)

const tests = suite(TestServer.layer.pipe(Layer.provideMerge(TestApplication.layer)))
afterAll(tests.dispose)

/** Everything received until the server closes the connection, as it must after each of these requests. */
const exchange = (port: number, bytes: string) =>
  Effect.callback<string>((resume) => {
    let answer = ""
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes, "latin1"))
    socket.on("data", (chunk) => (answer += chunk.toString("latin1")))
    socket.on("error", () => {})
    socket.on("close", () => resume(Effect.succeed(answer)))
    return Effect.sync(() => socket.destroy())
  })

const answersIn = (text: string): ReadonlyArray<string> =>
  text
    .split(/(?=HTTP\/1\.1 \d{3})/)
    .filter((part) => part !== "")
    .map((part) => `${/^HTTP\/1\.1 (\d{3})/.exec(part)?.[1] ?? "?"} ${/"code":"(\w+)"/.exec(part)?.[1] ?? ""}`.trim())

tests.live(
  "ambiguous bytes are refused, never resolved: the corpus is answered as recorded",
  () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const { port } = yield* TestServer
      const corpus = yield* Schema.decodeEffect(Corpus)(yield* files.readFileString(file))
      const found = yield* Effect.forEach(
        corpus,
        Effect.fnUntraced(function* ({ name, request }) {
          const text = yield* exchange(port, request)
          // Whatever hosts a request names, links lead to the configured origin.
          expect(text).not.toContain("evil.example")
          expect(text).not.toContain("<html")
          if (text.includes('"product"')) expect(text).toContain(`"apiBaseUrl":"${origin}/api/v1"`)
          return { name, answers: answersIn(text) }
        }),
        { concurrency: 8 }
      )
      expect(found).toEqual(corpus.map(({ answers, name }) => ({ name, answers: [...answers] })))
      // No request in the corpus gets two answers: nothing was smuggled behind a body.
      expect(corpus.filter(({ answers }) => answers.length > 1)).toEqual([])
    }),
  30_000
)
