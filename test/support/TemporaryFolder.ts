import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem } from "effect"

/** Creates a folder that is removed when the Scope closes. */
export const temporaryFolder = Effect.flatMap(FileSystem.FileSystem, (files) => files.makeTempDirectoryScoped()).pipe(
  Effect.provide(NodeServices.layer),
  Effect.orDie
)
