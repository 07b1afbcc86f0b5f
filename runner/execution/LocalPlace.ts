import { Effect, Layer } from "effect"
import { SnapshotStore } from "../snapshot/SnapshotStore.ts"
import { Toolchain } from "../toolchain/Toolchain.ts"
import { BuildStore } from "./BuildStore.ts"
import { ExtractionFailed, RunPlace, ToolUnavailable } from "./RunPlace.ts"
import { RunnerSettings } from "./RunnerSettings.ts"

/** Runs are executed beside the control plane, with the snapshots, builds and tools of its own machine. */
export const localPlace = Layer.effect(
  RunPlace,
  Effect.gen(function* () {
    const snapshots = yield* SnapshotStore
    const toolchain = yield* Toolchain
    const builds = yield* BuildStore
    const { mirror } = yield* RunnerSettings
    return RunPlace.of({
      extractModule: (snapshotDigest, target) =>
        snapshots
          .extract(snapshotDigest, target)
          .pipe(Effect.mapError(({ message }) => new ExtractionFailed({ message }))),
      tool: (requirement) =>
        toolchain.resolve(requirement).pipe(
          Effect.map(({ path }) => path),
          Effect.mapError(({ message, remedy }) => new ToolUnavailable({ message: `${message} ${remedy}` }))
        ),
      keepBuild: builds.adopt,
      findBuild: builds.find,
      mirror: Effect.succeed(mirror)
    })
  })
)
