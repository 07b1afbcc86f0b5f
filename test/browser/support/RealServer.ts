import { NodeFileSystem, NodePath } from "@effect/platform-node"
import { Effect, Exit, FileSystem, Layer, Path, Scope } from "effect"
import { gateway } from "./Gateway.ts"
import { operatorCommand, serverProcess } from "./ServerProcess.ts"

/**
 * Starts the product itself in a separate process, with a fresh data folder and behind a network link that can be cut. The
 * product may read only from the Git server `gitOrigin`, and stops when the Scope closes.
 */
export const realServer = Effect.fnUntraced(
  function* (gitOrigin: string, flags: ReadonlyArray<string> = []) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const folder = path.resolve(yield* fs.makeTempDirectoryScoped({ prefix: "dashboard-e2e-" }))
    const network = yield* gateway
    const outer = yield* Effect.scope

    const start = Effect.gen(function* () {
      const life = yield* Scope.fork(outer)
      const server = yield* serverProcess(folder, [
        `--base-url=${network.origin}`,
        `--git-allow-origins=${gitOrigin}`,
        ...flags
      ]).pipe(Scope.provide(life))
      network.leadTo(server.port)
      const crash = server.crash.pipe(Effect.andThen(Scope.close(life, Exit.void)))
      return { crash, setupLink: server.setupLink ?? "" }
    })

    const first = yield* start
    const operator = (...args: ReadonlyArray<string>) => operatorCommand(folder, args)
    return { folder, network, setupLink: first.setupLink, crash: first.crash, startAgain: start, operator }
  },
  Effect.provide(Layer.mergeAll(NodeFileSystem.layer, NodePath.layer))
)
