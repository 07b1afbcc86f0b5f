import { randomBytes } from "node:crypto"
import { statfs } from "node:fs/promises"
import { hostname } from "node:os"
import { Context, Effect, Layer, Option } from "effect"
import { type AgentFacts, agentProtocol, refreshesOnly } from "../../schema/agent/AgentIdentity.ts"
import { inlineFilesCapability } from "../../schema/agent/InlineFile.ts"
import type { ProvidedMark } from "../../schema/agent/ProvidedMark.ts"
import { AgentFolder } from "../../runner/agent/AgentFolder.ts"
import { machineClocks } from "../../runner/agent/LeaseClock.ts"
import { ProvidedCredentials } from "../../runner/execution/ProvidedCredentials.ts"
import { Sandbox } from "../../runner/sandbox/Sandbox.ts"
import { Toolchain } from "../../runner/toolchain/Toolchain.ts"
import { toolchainConfig } from "../../runner/toolchain/ToolchainSettings.ts"
import { version } from "../Version.ts"

export interface AgentOptions {
  readonly name: string
  readonly places: number
  readonly labels: Readonly<Record<string, string>>
}

/** Interval, in seconds, between checks for replaced credentials. */
const betweenLooksSeconds = 5
/** Minimum free space for the agent to take new jobs. If less than half of this space is free, a Run is stopped. */
const leastFreeBytes = 1024 ** 3
/** On a small disk, the minimum free space as a fraction of the disk's size. */
const leastFreePart = 0.1

const diskOf = (folder: string) =>
  Effect.tryPromise(() => statfs(folder)).pipe(
    Effect.map(({ bavail, blocks, bsize }) => ({ freeBytes: bavail * bsize, totalBytes: blocks * bsize })),
    // Take no new jobs if the free space is unknown.
    Effect.orElseSucceed(() => ({ freeBytes: 0, totalBytes: 0 })),
    Effect.map(({ freeBytes, totalBytes }) => ({
      freeBytes,
      totalBytes,
      low: freeBytes < Math.min(leastFreeBytes, totalBytes * leastFreePart)
    }))
  )

/** The platform in OpenTofu's notation. */
export const platform = `${process.platform}_${process.arch === "x64" ? "amd64" : process.arch}`

/** Describes the agent and its machine. The description is created again for each session. */
export class MachineFacts extends Context.Service<
  MachineFacts,
  {
    readonly facts: Effect.Effect<AgentFacts>
    /** Returns marks that identify the contents of the agent's own credentials, to report in the next session. */
    readonly marks: Effect.Effect<ReadonlyArray<ProvidedMark>>
    /** True if the agent's own credentials have changed since the last session. This is checked every few seconds. */
    readonly areReplaced: Effect.Effect<boolean>
    readonly disk: Effect.Effect<AgentFacts["disk"]>
    readonly drain: Effect.Effect<void>
    readonly isDraining: () => boolean
  }
>()("svc/src/agent/MachineFacts") {
  static readonly layer = (options: AgentOptions) =>
    Layer.effect(
      MachineFacts,
      Effect.gen(function* () {
        const folder = yield* AgentFolder
        const toolchain = yield* Toolchain
        const sandbox = yield* Sandbox
        const credentials = yield* ProvidedCredentials
        const incarnation = randomBytes(16).toString("hex")
        let draining = false
        const disk = diskOf(folder.path)
        const settings = yield* toolchainConfig.pipe(Effect.orDie)
        const here = Context.get(
          yield* Layer.build(Toolchain.layer({ ...settings, download: Option.none() }, `${folder.path}/tools`)),
          Toolchain
        )
        // Report OpenTofu even if no tool is installed, because it can be downloaded. Report the other tool only if it is
        // installed.
        const tools = Effect.gen(function* () {
          const first = yield* Effect.option(toolchain.resolve())
          const found = yield* Effect.forEach(["opentofu", "terraform"] as const, (name) =>
            Option.exists(first, (tool) => tool.name === name)
              ? Effect.succeed(first)
              : Effect.option(here.resolve({ name }))
          )
          return found.flatMap(Option.toArray).map(({ name, version: release }) => ({ name, version: release }))
        })
        const facts = Effect.gen(function* () {
          const looked = { tools: yield* tools, disk: yield* disk, provided: yield* credentials.names }
          return {
            version,
            protocol: agentProtocol,
            capabilities: [inlineFilesCapability, refreshesOnly],
            incarnation,
            hostname: hostname(),
            platform,
            isolation: sandbox.status.level,
            labels: options.labels,
            places: options.places,
            draining,
            ...looked
          }
        })
        let told = ""
        let lookedAt = Number.NEGATIVE_INFINITY
        const marks = Effect.tap(credentials.marks, (found) => Effect.sync(() => void (told = JSON.stringify(found))))
        const areReplaced = Effect.gen(function* () {
          const at = machineClocks.bootSeconds()
          if (at - lookedAt < betweenLooksSeconds) return false
          lookedAt = at
          return JSON.stringify(yield* credentials.marks) !== told
        })
        return MachineFacts.of({
          facts,
          marks,
          areReplaced,
          disk,
          drain: Effect.sync(() => {
            draining = true
          }),
          isDraining: () => draining
        })
      })
    )
}
