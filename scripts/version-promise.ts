import { NodeRuntime } from "@effect/platform-node"
import { Effect, FileSystem } from "effect"
import { platform } from "../src/composition/Platform.ts"
import { presentFacts, snapshotFile, snapshotText } from "./VersionPromise.ts"

/** Writes the snapshots of the version promise. Run it as a step of a release, after the changelog names the release. */
const program = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const facts = yield* presentFacts
  yield* Effect.forEach(Object.entries(facts), ([name, list]) =>
    files.writeFileString(snapshotFile(name), snapshotText(list))
  )
})

NodeRuntime.runMain(program.pipe(Effect.provide(platform)))
