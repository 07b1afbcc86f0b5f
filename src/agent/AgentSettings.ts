import { totalmem } from "node:os"
import { Config, Effect, Option, Schema } from "effect"
import { ByteSize } from "../../schema/records/ByteSize.ts"
import { metadataRanges, wholeRange } from "../../runner/sandbox/network/NetworkSettings.ts"
import {
  defaultSandboxSettings,
  SandboxSettings,
  type SandboxSettingsShape
} from "../../runner/sandbox/SandboxSettings.ts"
import type { RunnerSettingsShape } from "../../runner/execution/RunnerSettings.ts"
import { SettingsRefused } from "../settings/SettingsRefused.ts"

const WholeNumber = Schema.FiniteFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 16, maximum: 1_000_000 }))
const Size = Schema.Union([Schema.Literal("auto"), ByteSize])

const largestAutomaticMemory = 4 * 1024 ** 3
const { limits } = defaultSandboxSettings

const rangesOf = (text: string): ReadonlyArray<string> =>
  text.trim() === "none"
    ? []
    : text
        .split(",")
        .map((range) => range.trim())
        .filter((range) => range !== "")

/** Environment variables of `svc serve` that configure Runs and that have the same meaning for an agent. */
const config = Config.all({
  isolation: Config.Literals(["auto", "required", "off"], "SVC_RUNNER_ISOLATION").pipe(Config.withDefault("auto")),
  reach: Config.Literals(["auto", "isolated", "host"], "SVC_RUNNER_NETWORK").pipe(Config.withDefault("auto")),
  forbidden: Config.String("SVC_RUNNER_FORBIDDEN_RANGES").pipe(Config.withDefault(metadataRanges.join(","))),
  memory: Config.schema(Size, "SVC_RUN_MEMORY").pipe(Config.withDefault("auto")),
  processes: Config.schema(WholeNumber, "SVC_RUN_PROCESSES").pipe(Config.withDefault(limits.processes)),
  tmp: Config.schema(ByteSize, "SVC_RUN_TMP").pipe(Config.withDefault(limits.tmpBytes)),
  shm: Config.schema(ByteSize, "SVC_RUN_SHM").pipe(Config.withDefault(limits.shmBytes)),
  folder: Config.schema(ByteSize, "SVC_RUN_FOLDER").pipe(Config.withDefault(limits.folderBytes)),
  freeDisk: Config.schema(ByteSize, "SVC_RUN_FREE_DISK").pipe(Config.withDefault(limits.freeBytes)),
  mirror: Config.option(Config.NonEmptyString("SVC_PROVIDER_MIRROR")),
  mirrorRequired: Config.Boolean("SVC_PROVIDER_MIRROR_REQUIRED").pipe(Config.withDefault(false))
})

export interface AgentMachineSettings {
  readonly sandbox: SandboxSettingsShape
  readonly runner: RunnerSettingsShape
}

/** Reads the settings for executing Runs on this machine from the environment. */
export const agentMachineSettings = (folder: string): Effect.Effect<AgentMachineSettings, SettingsRefused> =>
  Effect.all({ given: config, ambient: SandboxSettings }).pipe(
    Effect.map(({ ambient, given }): AgentMachineSettings => {
      const mirror = Option.getOrUndefined(given.mirror)
      return {
        runner: {
          providerCache: `${folder}/providers`,
          dataFolder: folder,
          mirror: mirror === undefined ? undefined : { path: mirror, required: given.mirrorRequired }
        },
        sandbox: {
          ...ambient,
          isolation: given.isolation,
          limits: {
            ...ambient.limits,
            memoryBytes:
              given.memory === "auto" ? Math.min(largestAutomaticMemory, Math.floor(totalmem() / 2)) : given.memory,
            processes: given.processes,
            tmpBytes: given.tmp,
            shmBytes: given.shm,
            folderBytes: given.folder,
            fileBytes: Math.min(limits.fileBytes, given.folder),
            freeBytes: given.freeDisk
          },
          network: { ...ambient.network, reach: given.reach, forbidden: rangesOf(given.forbidden).map(wholeRange) },
          ownFolder: `${folder}/sandbox`,
          dataFolder: folder
        }
      }
    }),
    Effect.mapError(
      ({ message }) => new SettingsRefused({ message: `The settings for Runs are not valid. ${message}` })
    )
  )
