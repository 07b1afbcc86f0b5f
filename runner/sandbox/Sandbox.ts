import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Context, Effect, Layer, Scope } from "effect"
import { ChildProcessSpawner } from "effect/process"
import type { SandboxLevel } from "../../schema/records/Run.ts"
import { ConfinementCommand } from "./confinement/ConfinementCommand.ts"
import { keepHostSettings } from "./HostSettings.ts"
import { allowedLimits } from "./InstalledProgram.ts"
import { bubblewrapRung } from "./levels/Bubblewrap.ts"
import { landlockRung } from "./levels/LandlockLevel.ts"
import type { LevelHost, OpenSandbox, SandboxSpec } from "./levels/Level.ts"
import { namespacesRung } from "./levels/Namespaces.ts"
import { plainProcess } from "./levels/PlainProcess.ts"
import { seatbeltRung } from "./levels/Seatbelt.ts"
import { takeUserIds } from "./levels/UserIdRange.ts"
import { userLandlockRung } from "./levels/UserLandlock.ts"
import { makeRunLimits } from "./limits/RunLimits.ts"
import { probeNetwork } from "./network/NetworkProbe.ts"
import { makeRunNetworks, networkOfRun } from "./network/RunNetworks.ts"
import { climb, namespacedLevels, type Rung } from "./SandboxLadder.ts"
import { effectiveLimits, type RunRequirements, unmetRequirement } from "./RunRequirements.ts"
import { SandboxSettings } from "./SandboxSettings.ts"
import { type NetworkStatus, SandboxRefused, type SandboxStatus } from "./SandboxStatus.ts"
import { removeStaleProbes } from "./ProbeFolder.ts"

/** The result of trying one level, whether or not it was chosen. */
export interface LevelFinding {
  readonly level: SandboxLevel
  readonly works: boolean
  readonly reason: string
}

const temporaryFolder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "svc-sandbox-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
)

/**
 * Runs the programs of a module isolated from the machine, at the best level that worked at startup. `open` fails with
 * `SandboxRefused` if none of the levels that the operator accepts works, or if the run's folder cannot be used at the
 * chosen level. Everything in `root` must be written before `open`.
 */
export class Sandbox extends Context.Service<
  Sandbox,
  {
    readonly status: SandboxStatus
    /**
     * Status of the network for Runs. The first time that it is read, svc probes the network, which takes as long as
     * creating a network.
     */
    readonly network: Effect.Effect<NetworkStatus>
    /** Path of `root` as programs see it. Available before the sandbox is opened. */
    readonly insideRoot: (root: string) => string
    /**
     * Returns the reason why this machine would refuse a Run with these requirements, and the remedy, or `undefined` if it would
     * accept the Run.
     */
    readonly refusal: (requirements: RunRequirements | undefined) => Effect.Effect<string | undefined>
    readonly open: (spec: SandboxSpec) => Effect.Effect<OpenSandbox, SandboxRefused, Scope.Scope>
    /** True if this machine generally refuses Runs, but may run module trees whose digest the operator trusts. */
    readonly trustsTrees: boolean
    /** Tries every level, including those that svc did not try at startup, for a complete report. */
    readonly examine: Effect.Effect<ReadonlyArray<LevelFinding>>
  }
>()("svc/runner/sandbox/Sandbox") {
  static readonly layer = Layer.effect(
    Sandbox,
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      const settings = yield* SandboxSettings
      const host: LevelHost = {
        spawner: yield* ChildProcessSpawner.ChildProcessSpawner,
        settings,
        limits: yield* allowedLimits(settings.limits),
        confinement: yield* ConfinementCommand,
        ownFolder: settings.ownFolder ?? (yield* temporaryFolder)
      }
      yield* removeStaleProbes(host.ownFolder)
      // Copy the host's settings only after a working level that mounts them has been found.
      const hostSettings = yield* Effect.cached(keepHostSettings(join(host.ownFolder, "etc")))
      const userIds = yield* Effect.cached(Scope.provide(takeUserIds(settings.userIds), scope))
      const all: ReadonlyArray<Rung> = [
        bubblewrapRung(host, hostSettings),
        namespacesRung(host, hostSettings),
        userLandlockRung(host, userIds),
        landlockRung(host),
        seatbeltRung(host)
      ]
      const rungs = all.filter(({ level }) => settings.levels.includes(level))
      const climbed = yield* climb(settings.isolation, rungs)
      const level = climbed.level ?? plainProcess(host)
      const limits = yield* makeRunLimits(host.spawner, host.limits, settings.controlGroups)
      const status: SandboxStatus = { ...climbed.status, limits: { keeper: limits.keeper, ...limits.bounds } }
      const isNamespaced = namespacedLevels.some((namespaced) => namespaced === level.level)
      const networks = yield* makeRunNetworks(
        host.spawner,
        settings.network,
        isNamespaced ? { folder: join(host.ownFolder, "network"), attempt: probeNetwork(host, level) } : undefined
      )
      const refuseSharedNetwork = Effect.gen(function* () {
        if (settings.network.reach !== "isolated") return
        const { accepted, reason, remedy } = yield* networks.status
        if (accepted) return
        return yield* new SandboxRefused({
          level: status.level,
          message: `Runs are refused because a network of their own is required. ${reason} ${remedy ?? ""}`.trim()
        })
      })

      const trustsTrees = !status.accepted && settings.isolation === "auto" && settings.trustedTrees.length > 0
      const isTrusted = ({ moduleTree }: SandboxSpec) =>
        trustsTrees && moduleTree !== undefined && settings.trustedTrees.includes(moduleTree)

      // Probe the network only for profiles that require a separate one, because probing creates a network.
      const refusal = Effect.fnUntraced(function* (requirements: RunRequirements | undefined) {
        if (requirements === undefined) return undefined
        const { network, ...others } = requirements
        const unmet = unmetRequirement(others, status, { reach: "isolated", reason: "" })
        if (unmet !== undefined || network === undefined) return unmet
        return unmetRequirement(requirements, status, yield* networks.status)
      })

      const open = Effect.fn("Sandbox.open")(function* (spec: SandboxSpec) {
        if (!status.accepted && !isTrusted(spec)) {
          return yield* new SandboxRefused({
            level: status.level,
            message: `Runs are refused. ${status.reason} ${status.remedy ?? ""}`.trim()
          })
        }
        yield* refuseSharedNetwork
        const unmet = yield* refusal(spec.requirements)
        if (unmet !== undefined) return yield* new SandboxRefused({ level: status.level, message: unmet })
        const own = effectiveLimits(host.limits, spec.requirements)
        return yield* level.open(spec, {
          guard: yield* limits.guard(spec.root, own),
          limits: own,
          network: yield* networkOfRun(networks)
        })
      })

      const examine = Effect.forEach(rungs, (rung) =>
        Effect.map(
          rung.attempt,
          ({ _tag, reason }): LevelFinding => ({ level: rung.level, works: _tag === "works", reason })
        )
      )

      return Sandbox.of({
        status,
        network: networks.status,
        insideRoot: level.insideRoot,
        refusal,
        open,
        trustsTrees,
        examine
      })
    })
  )
}
