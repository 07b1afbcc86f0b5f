import { totalmem } from "node:os"
import { Config, ConfigProvider, Effect, Layer, Option } from "effect"
import { RunSettings, defaultRunSettings } from "../../actors/ledger/run/RunSettings.ts"
import { BuildStore } from "../../runner/execution/BuildStore.ts"
import { localPlace } from "../../runner/execution/LocalPlace.ts"
import { ModuleRunner } from "../../runner/execution/ModuleRunner.ts"
import { RunnerSettings } from "../../runner/execution/RunnerSettings.ts"
import { GitPolicy } from "../../runner/git/GitPolicy.ts"
import { sampleAddress } from "../../runner/git/SampleModule.ts"
import { GitRemote } from "../../runner/git/GitRemote.ts"
import { InstalledGit } from "../../runner/git/InstalledGit.ts"
import { wholeRange } from "../../runner/sandbox/network/NetworkSettings.ts"
import { Sandbox } from "../../runner/sandbox/Sandbox.ts"
import { SandboxSettings } from "../../runner/sandbox/SandboxSettings.ts"
import { ModuleScanner } from "../../runner/scan/ModuleScanner.ts"
import { SnapshotStore } from "../../runner/snapshot/SnapshotStore.ts"
import { SnapshotSync } from "../../runner/snapshot/SnapshotSync.ts"
import { Toolchain } from "../../runner/toolchain/Toolchain.ts"
import { toolchainConfig } from "../../runner/toolchain/ToolchainSettings.ts"
import { buildsName, DataFolder, snapshotsName } from "../database/DataFolder.ts"
import { HttpListener } from "../http/HttpListener.ts"
import { queueLimits } from "../settings/QueueLimits.ts"
import type { Settings } from "../settings/Settings.ts"
import { SettingsRefused } from "../settings/SettingsRefused.ts"
import { sharedBuilds, sharedSnapshots } from "./SharedStores.ts"

const present = (name: string, value: string | undefined) => (value === undefined ? [] : [[name, value] as const])

/**
 * Converts the resolved settings to the runner's settings for the tool. The settings take the place of environment
 * variables.
 */
const toolchainSettings = (settings: Settings) =>
  Effect.gen(function* () {
    const searchPath = yield* Config.String("PATH").pipe(Config.withDefault(""))
    const environment = Object.fromEntries([
      ["SVC_TOOL", settings.tool],
      ["SVC_TOOL_DOWNLOAD", settings.toolDownload],
      ["PATH", searchPath],
      ...present("SVC_TOOL_MIRROR", settings.toolMirror),
      ...present("SVC_TOOL_MIRROR_KEY", settings.toolMirrorKey),
      ...present("SVC_TOOL_VERSION", settings.toolVersion),
      ...present("SVC_TOOL_SHA256", settings.toolSha256)
    ])
    return yield* toolchainConfig.pipe(Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord(environment))))
  }).pipe(
    Effect.mapError((error) => new SettingsRefused({ message: `The tool settings are not valid. ${error.message}` }))
  )

/** Locates the tool that executes Runs, according to the settings. */
export const toolchain = (settings: Settings) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const folder = yield* DataFolder
      return Toolchain.layer(yield* toolchainSettings(settings), yield* folder.subfolder("tools"))
    })
  )

const largestAutomaticMemory = 4 * 1024 ** 3

/** Returns the limits of one Run. */
const runBounds = (settings: Settings) => ({
  memoryBytes:
    settings.runMemory === "auto" ? Math.min(largestAutomaticMemory, Math.floor(totalmem() / 2)) : settings.runMemory,
  processes: settings.runProcesses,
  tmpBytes: settings.runTmp,
  shmBytes: settings.runShm,
  folderBytes: settings.runFolder,
  freeBytes: settings.runFreeDisk
})

/**
 * Creates the sandbox that isolates module code from this machine. If `keeps` is "nothing", the sandbox stores nothing in
 * the data folder.
 */
export const sandbox = (settings: Settings, keeps: "in the data folder" | "nothing" = "in the data folder") =>
  Sandbox.layer.pipe(
    Layer.provide(
      Layer.effect(
        SandboxSettings,
        Effect.gen(function* () {
          const folder = yield* DataFolder
          // Start from the current options, because a host application may have set options that are not in the svc
          // settings.
          const ambient = yield* SandboxSettings
          return {
            ...ambient,
            isolation: settings.runnerIsolation,
            limits: { ...ambient.limits, ...runBounds(settings) },
            network: {
              ...ambient.network,
              reach: settings.runnerNetwork,
              forbidden: settings.runnerForbiddenRanges.map(wholeRange)
            },
            ownFolder: keeps === "nothing" ? undefined : yield* folder.subfolder("sandbox"),
            dataFolder: folder.path,
            extraReadOnly: [
              ...ambient.extraReadOnly,
              ...(settings.providerMirror === undefined ? [] : [settings.providerMirror])
            ]
          }
        })
      )
    )
  )

/**
 * Derives the Git policy. The address of the built-in sample repository is derived from the server's address, which comes
 * from the settings or the listener. If no server is running, the sample repository has no address.
 */
const gitPolicy = (settings: Settings) =>
  Layer.unwrap(
    Effect.map(Effect.serviceOption(HttpListener), (listener) => {
      const baseUrl = settings.baseUrl ?? Option.getOrUndefined(listener)?.url
      return GitPolicy.layerWith({
        allowOrigins: settings.gitAllowOrigins,
        native: settings.gitNative,
        ...(baseUrl === undefined ? {} : { sample: sampleAddress(baseUrl) })
      })
    })
  )

const git = (settings: Settings) =>
  Layer.mergeAll(GitRemote.layer, InstalledGit.layer).pipe(Layer.provideMerge(gitPolicy(settings)))

const snapshots = Layer.unwrap(
  Effect.gen(function* () {
    const folder = yield* DataFolder
    return sharedSnapshots(SnapshotStore.layer({ folder: yield* folder.subfolder(snapshotsName) }))
  })
)

const runSettings = (settings: Settings) =>
  Layer.effect(
    RunSettings,
    Effect.gen(function* () {
      const folder = yield* DataFolder
      return {
        ...defaultRunSettings,
        runsFolder: yield* folder.subfolder("runs"),
        ...queueLimits(settings)
      }
    })
  )

const runnerSettings = ({ providerMirror, providerMirrorRequired }: Settings) =>
  Layer.effect(
    RunnerSettings,
    Effect.gen(function* () {
      const folder = yield* DataFolder
      return {
        providerCache: yield* folder.subfolder("providers"),
        dataFolder: folder.path,
        mirror: providerMirror === undefined ? undefined : { path: providerMirror, required: providerMirrorRequired }
      }
    })
  )

const builds = Layer.unwrap(
  Effect.gen(function* () {
    const folder = yield* DataFolder
    const path = yield* folder.subfolder(buildsName)
    return sharedBuilds(BuildStore.layer({ folder: path }), path)
  })
)

/** Provides the service that executes Runs, and the runner on this machine. */
const execution = <E, R>(settings: Settings, box: Layer.Layer<Sandbox, E, R>) =>
  ModuleRunner.layer.pipe(
    Layer.provideMerge(localPlace),
    Layer.provide(runnerSettings(settings)),
    Layer.provideMerge(Layer.mergeAll(box, builds, snapshots, toolchain(settings)))
  )

/** Provides all services that execute Runs, with the given sandbox. */
export const machineWith = <E, R>(settings: Settings, box: Layer.Layer<Sandbox, E, R>) =>
  Layer.mergeAll(
    SnapshotSync.layer.pipe(Layer.provideMerge(Layer.mergeAll(git(settings), snapshots))),
    execution(settings, box),
    ModuleScanner.layer,
    runSettings(settings)
  )

/** Provides all services that execute Runs: Git, snapshots, the scan, the tool and its sandbox. */
export const machine = (settings: Settings) => machineWith(settings, sandbox(settings))

/** Services that a runner must provide. */
export type RunnerServices = Layer.Success<ReturnType<typeof machine>>
