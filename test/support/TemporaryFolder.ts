import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem } from "effect"

/** A new folder that is removed with the Scope. */
export const temporaryFolder = Effect.flatMap(FileSystem.FileSystem, (files) => files.makeTempDirectoryScoped()).pipe(
  Effect.provide(NodeServices.layer),
  Effect.orDie
)
