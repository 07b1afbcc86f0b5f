import { NodeFileSystem, NodePath } from "@effect/platform-node"
import { Effect, Exit, FileSystem, Layer, Path, Schema, Scope } from "effect"
import { gateway } from "./Gateway.ts"

const Ready = Schema.fromJsonString(
  Schema.Struct({ url: Schema.String, port: Schema.Int, setupLink: Schema.NullOr(Schema.String) })
)
const root = new URL("../../..", import.meta.url).pathname

/** The compiled binary when `SVC_TEST_BINARY` names one, the source otherwise. */
const program = (): ReadonlyArray<string> => {
  const binary = process.env["SVC_TEST_BINARY"]
  return binary === undefined || binary === "" ? [process.execPath, `${root}src/Main.ts`] : [binary]
}

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

/**
 * The product itself as a process of its own, on a fresh data folder and behind a stretch of network that can be cut.
 * `gitOrigin` is the one Git server it may read. It ends with the Scope.
 */
export const realServer = Effect.fnUntraced(
  function* (gitOrigin: string, flags: ReadonlyArray<string> = []) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const folder = yield* fs.makeTempDirectoryScoped({ prefix: "dashboard-e2e-" })
    const network = yield* gateway
    const outer = yield* Effect.scope

    const start = Effect.gen(function* () {
      const life = yield* Scope.fork(outer)
      const server = yield* Effect.acquireRelease(
        Effect.sync(() =>
          Bun.spawn(
            [
              ...program(),
              "serve",
              "--json",
              "--log=warn",
              `--data-dir=${path.join(folder, "data")}`,
              "--listen=127.0.0.1:0",
              `--base-url=${network.origin}`,
              `--git-allow-origins=${gitOrigin}`,
              "--tool-download=off",
              ...flags
            ],
            { cwd: folder, stdout: "pipe", stderr: "inherit" }
          )
        ),
        (spawned) =>
          Effect.promise(() => {
            spawned.kill("SIGTERM")
            return spawned.exited
          })
      ).pipe(Scope.provide(life))
      const ready = yield* Effect.promise(() => firstLine(server.stdout)).pipe(
        Effect.flatMap(Schema.decodeEffect(Ready))
      )
      network.leadTo(ready.port)
      /** As when the machine loses power: no chance to tidy up. */
      const crash = Effect.promise(() => {
        server.kill("SIGKILL")
        return server.exited
      }).pipe(Effect.andThen(Scope.close(life, Exit.void)))
      return { crash, setupLink: ready.setupLink ?? "" }
    })

    const first = yield* start
    return { network, setupLink: first.setupLink, crash: first.crash, startAgain: start }
  },
  Effect.provide(Layer.mergeAll(NodeFileSystem.layer, NodePath.layer))
)
