import type { Effect, Scope } from "effect"
import type { ChildProcessSpawner } from "effect/process"
import type { SandboxLevel } from "../../../schema/records/Run.ts"
import type { ConfinementCommandShape } from "../confinement/ConfinementCommand.ts"
import type { ProcessEnvironment, SandboxProcess } from "../SandboxProcess.ts"
import type { RunConditions } from "../RunConditions.ts"
import type { RunRequirements } from "../RunRequirements.ts"
import type { SandboxLimits, SandboxSettingsShape } from "../SandboxSettings.ts"
import type { SandboxRefused, SandboxSpawnFailed } from "../SandboxStatus.ts"

/**
 * What one run may see.
 *
 * - `root`: absolute folder that the run owns; the only place it can write to, besides a private /tmp
 * - `readOnly`: absolute paths that all its programs may read (the tool), at the same path inside
 * - `lent`: absolute paths of the service that single programs may read, see `SandboxedCommand.readOnly`
 * - `temporary`: folder in the root, relative to it, for temporary files if there is no private /tmp
 * - `processNote`: absolute path of a file next to the root, a record of the processes that must not outlive the run, used to
 *   find them after the service has crashed
 * - `requirements`: what the Run's execution profile requires of the machine
 * - `moduleTree`: digest of the module's tree if nothing else decides what will be executed; see `Sandbox.trustsTrees`
 */
export interface SandboxSpec {
  readonly root: string
  readonly readOnly: ReadonlyArray<string>
  readonly lent?: ReadonlyArray<string>
  readonly temporary?: string
  readonly processNote?: string
  readonly requirements?: RunRequirements | undefined
  readonly moduleTree?: string
}

/**
 * One program.
 *
 * - `argv`: program and arguments, no shell
 * - `cwd`: folder relative to the root
 * - `environment`: the complete environment; nothing is inherited
 * - `network`: whether the Internet may be reached; `process` cannot prevent it
 * - `readOnly`: absolute paths that only this program may read, in addition to the sandbox's own; at the `user_landlock` level
 *   they must be in `SandboxSpec.lent`
 */
export interface SandboxedCommand {
  readonly argv: readonly [string, ...ReadonlyArray<string>]
  readonly cwd: string
  readonly environment: ProcessEnvironment
  readonly network: boolean
  readonly readOnly?: ReadonlyArray<string>
}

export interface OpenSandbox {
  /** The path of `SandboxSpec.root` as the programs see it. */
  readonly root: string
  /** A folder for temporary files, private and with a path short enough for sockets. */
  readonly temporary: string
  readonly spawn: (command: SandboxedCommand) => Effect.Effect<SandboxProcess, SandboxSpawnFailed, Scope.Scope>
}

/** One way of isolating module code. Everything in the root must be written before `open`. */
export interface Level {
  readonly level: SandboxLevel
  /** A root's path as programs will see it; known before it is opened. */
  readonly insideRoot: (root: string) => string
  readonly open: (
    spec: SandboxSpec,
    conditions: RunConditions
  ) => Effect.Effect<OpenSandbox, SandboxRefused, Scope.Scope>
}

/** What every level is built from. */
export interface LevelHost {
  readonly spawner: ChildProcessSpawner.ChildProcessSpawner["Service"]
  readonly settings: SandboxSettingsShape
  /** The requested limits, lowered to this process's own limits, because raising one requires privileges. */
  readonly limits: SandboxLimits
  readonly confinement: ConfinementCommandShape
  /** Absolute folder for the levels' own files while the service is running. */
  readonly ownFolder: string
}
