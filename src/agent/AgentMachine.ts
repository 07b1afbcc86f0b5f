import { mkdir } from "node:fs/promises"
import { Duration, Effect, Layer } from "effect"
import { BuildStore } from "../../runner/execution/BuildStore.ts"
import { localPlace } from "../../runner/execution/LocalPlace.ts"
import { ModuleRunner } from "../../runner/execution/ModuleRunner.ts"
import { RunnerSettings } from "../../runner/execution/RunnerSettings.ts"
import { Sandbox } from "../../runner/sandbox/Sandbox.ts"
import { SandboxSettings } from "../../runner/sandbox/SandboxSettings.ts"
import { SnapshotStore } from "../../runner/snapshot/SnapshotStore.ts"
import { Toolchain } from "../../runner/toolchain/Toolchain.ts"
import { toolchainConfig } from "../../runner/toolchain/ToolchainSettings.ts"
import { ownCredentials } from "./OwnCredentials.ts"
import { SettingsRefused } from "../settings/SettingsRefused.ts"
import { agentMachineSettings, type AgentMachineSettings } from "./AgentSettings.ts"

/** Time after which a snapshot is removed if no Run has used it. If a later Run needs it, it is fetched again. */
const snapshotGrace = Duration.hours(1)

export const agentTools = (folder: string) =>
  Layer.unwrap(
    toolchainConfig.pipe(
      Effect.mapError(({ message }) => new SettingsRefused({ message: `The tool settings are not valid. ${message}` })),
      Effect.map((settings) => Toolchain.layer(settings, `${folder}/tools`))
    )
  )

export const agentSandbox = (settings: AgentMachineSettings) =>
  Sandbox.layer.pipe(Layer.provide(Layer.succeed(SandboxSettings, settings.sandbox)))

/**
 * Services that execute Runs on an agent. They are the same services as in the control plane's runner, but use the agent's
 * folder. Snapshots and builds are fetched into this folder before a job begins.
 */
export const agentMachine = (folder: string) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const settings = yield* agentMachineSettings(folder)
      for (const name of ["tools", "sandbox", "providers"]) {
        yield* Effect.promise(() => mkdir(`${folder}/${name}`, { recursive: true, mode: 0o700 }))
      }
      return ModuleRunner.layer.pipe(
        Layer.provideMerge(localPlace),
        Layer.provideMerge(ownCredentials(folder)),
        Layer.provide(Layer.succeed(RunnerSettings, settings.runner)),
        Layer.provideMerge(
          Layer.mergeAll(
            agentSandbox(settings),
            agentTools(folder),
            BuildStore.layer({ folder: `${folder}/builds` }),
            SnapshotStore.layer({ folder: `${folder}/snapshots`, orphanGrace: snapshotGrace })
          )
        )
      )
    })
  )
