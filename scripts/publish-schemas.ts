import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Effect, FileSystem, Path } from "effect"
import { publishedSchemas, publishedText } from "../schema/manifest/PublishedSchemas.ts"

/**
 * Writes the published JSON Schemas from the definitions that the parser uses. Run this script after changing the schemas or
 * the parser.
 */
const program = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = path.join(import.meta.dirname, "..", "schema", "manifest", "published")
  yield* fs.makeDirectory(folder, { recursive: true })
  for (const schema of publishedSchemas) {
    yield* fs.writeFileString(path.join(folder, schema.fileName), publishedText(schema))
    yield* Effect.log(`wrote ${schema.fileName}`)
  }
})

NodeRuntime.runMain(program.pipe(Effect.provide(NodeServices.layer)))
