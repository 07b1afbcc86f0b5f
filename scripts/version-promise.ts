import { NodeRuntime } from "@effect/platform-node"
import { Effect, FileSystem } from "effect"
import { platform } from "../src/composition/Platform.ts"
import { presentFacts, snapshotFile, snapshotText } from "./VersionPromise.ts"

/**
 * Writes the snapshots of the version promise. Run this script as a step of a release, after adding the release to the
 * changelog.
 */
const program = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const facts = yield* presentFacts
  yield* Effect.forEach(Object.entries(facts), ([name, list]) =>
    files.writeFileString(snapshotFile(name), snapshotText(list))
  )
})

NodeRuntime.runMain(program.pipe(Effect.provide(platform)))
