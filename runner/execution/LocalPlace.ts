import { Effect, Layer } from "effect"
import { SnapshotStore } from "../snapshot/SnapshotStore.ts"
import { Toolchain } from "../toolchain/Toolchain.ts"
import { BuildStore } from "./BuildStore.ts"
import { ProvidedCredentials } from "./ProvidedCredentials.ts"
import { ExtractionFailed, RunPlace, ToolUnavailable } from "./RunPlace.ts"
import { RunnerSettings } from "./RunnerSettings.ts"

/** Executes Runs on the control plane's machine, with the snapshots, builds and tools that are stored there. */
export const localPlace = Layer.effect(
  RunPlace,
  Effect.gen(function* () {
    const snapshots = yield* SnapshotStore
    const toolchain = yield* Toolchain
    const builds = yield* BuildStore
    const provided = yield* ProvidedCredentials
    const { mirror } = yield* RunnerSettings
    return RunPlace.of({
      extractModule: (snapshotDigest, target) =>
        snapshots
          .extract(snapshotDigest, target)
          .pipe(Effect.mapError(({ message }) => new ExtractionFailed({ message }))),
      tool: (requirement) =>
        toolchain.resolve(requirement).pipe(
          Effect.map(({ path }) => path),
          Effect.mapError((error) => {
            const { message, remedy } = error
            // Omit the path, which readers of a Run do not need. The operator can use `svc doctor` to find the path.
            const shown = error._tag === "ToolBroken" ? message.replaceAll(error.path, "The tool") : message
            return new ToolUnavailable({ message: `${shown} ${remedy}` })
          })
        ),
      keepBuild: builds.adopt,
      findBuild: builds.find,
      provided: provided.read,
      mirror: Effect.succeed(mirror)
    })
  })
)
