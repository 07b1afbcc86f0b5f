import { NodeFileSystem, NodePath } from "@effect/platform-node"
import { Effect, FileSystem, Layer, Path, Schema } from "effect"
import { demoRepository } from "../../../src/cli/demo/DemoRepository.ts"

const Ready = Schema.fromJsonString(Schema.Struct({ url: Schema.String, setupLink: Schema.String }))
const root = new URL("../../..", import.meta.url).pathname

const firstLine = async (stream: ReadableStream<Uint8Array>): Promise<string> => {
  const decoder = new TextDecoder()
  let text = ""
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true })
    const end = text.indexOf("\n")
    if (end >= 0) return text.slice(0, end)
  }
  throw new Error(`The server ended before it was ready: ${text}`)
}

/** The product itself as a process of its own, on a fresh data folder, with a served Git repository it may read. */
export const realServer = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "dashboard-e2e-" })
  const repository = yield* demoRepository
  const server = yield* Effect.acquireRelease(
    Effect.sync(() =>
      Bun.spawn(
        [
          process.execPath,
          path.join(root, "src", "Main.ts"),
          "serve",
          "--json",
          "--log=warn",
          `--data-dir=${path.join(folder, "data")}`,
          "--listen=127.0.0.1:0",
          `--git-allow-origins=${repository.origin}`,
          "--tool-download=off"
        ],
        { cwd: folder, stdout: "pipe", stderr: "inherit" }
      )
    ),
    (spawned) =>
      Effect.promise(() => {
        spawned.kill("SIGTERM")
        return spawned.exited
      })
  )
  const ready = yield* Effect.promise(() => firstLine(server.stdout)).pipe(Effect.flatMap(Schema.decodeEffect(Ready)))
  return { ...ready, repository }
}).pipe(Effect.provide(Layer.mergeAll(NodeFileSystem.layer, NodePath.layer)))
