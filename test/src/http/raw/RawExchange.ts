import { Effect, FileSystem, Schema } from "effect"
import { connect } from "node:net"
import { fileURLToPath } from "node:url"

const file = fileURLToPath(new URL("./Corpus.json", import.meta.url))

/**
 * Sends raw bytes and returns the status and error code of each response. Each response proves that the server handled one
 * request.
 */
const Corpus = Schema.fromJsonString(
  Schema.Array(Schema.Struct({ name: Schema.String, request: Schema.String, answers: Schema.Array(Schema.String) }))
)

export const corpus = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  return yield* Schema.decodeEffect(Corpus)(yield* files.readFileString(file))
})

/** Reads until the server closes the connection. The server must close the connection after each of these requests. */
export const exchange = (port: number, bytes: string) =>
  Effect.callback<string>((resume) => {
    let answer = ""
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes, "latin1"))
    socket.on("data", (chunk) => (answer += chunk.toString("latin1")))
    socket.on("error", () => {})
    socket.on("close", () => resume(Effect.succeed(answer)))
    return Effect.sync(() => socket.destroy())
  })

export const answersIn = (text: string): ReadonlyArray<string> =>
  text
    .split(/(?=HTTP\/1\.1 \d{3})/)
    .filter((part) => part !== "")
    .map((part) => `${/^HTTP\/1\.1 (\d{3})/.exec(part)?.[1] ?? "?"} ${/"code":"(\w+)"/.exec(part)?.[1] ?? ""}`.trim())
