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
 * The folders and files that a run may see.
 *
 * - `root`: absolute folder that the run owns; its programs can write only to it and to a private /tmp
 * - `readOnly`: absolute paths that all its programs may read (the tool), at the same path inside
 * - `lent`: absolute paths of the service that single programs may read, see `SandboxedCommand.readOnly`
 * - `temporary`: folder relative to the root for temporary files if the level has no private /tmp
 * - `processNote`: absolute path of a file next to the root that records the processes that must not outlive the run, so that svc
 *   can find them after a crash
 * - `requirements`: the requirements of the Run's execution profile for the machine
 * - `moduleTree`: digest of the module's tree if it alone determines which code is executed; see `Sandbox.trustsTrees`
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
 * - `network`: true if the program may reach the Internet; `process` cannot prevent it
 * - `readOnly`: absolute paths that only this program may read, in addition to the sandbox's own paths; at the `user_landlock`
 *   level they must be in `SandboxSpec.lent`
 */
export interface SandboxedCommand {
  readonly argv: readonly [string, ...ReadonlyArray<string>]
  readonly cwd: string
  readonly environment: ProcessEnvironment
  readonly network: boolean
  readonly readOnly?: ReadonlyArray<string>
  /**
   * The program only installs packages. Above the limit of its folder it is killed at once, since it has nothing to save, and its
   * folder is measured again after its end.
   */
  readonly isInstallation?: boolean
}

export interface OpenSandbox {
  /** The path of `SandboxSpec.root` in the programs' view. */
  readonly root: string
  /** A folder for temporary files, private and with a path short enough for sockets. */
  readonly temporary: string
  readonly spawn: (command: SandboxedCommand) => Effect.Effect<SandboxProcess, SandboxSpawnFailed, Scope.Scope>
}

/** A method of isolating module code. Everything in the root must be written before `open`. */
export interface Level {
  readonly level: SandboxLevel
  /** A root's path in the programs' view; available before it is opened. */
  readonly insideRoot: (root: string) => string
  readonly open: (
    spec: SandboxSpec,
    conditions: RunConditions
  ) => Effect.Effect<OpenSandbox, SandboxRefused, Scope.Scope>
}

/** The parts from which every level is built. */
export interface LevelHost {
  readonly spawner: ChildProcessSpawner.ChildProcessSpawner["Service"]
  readonly settings: SandboxSettingsShape
  /** The requested limits, lowered to this process's own limits, because raising a limit requires privileges. */
  readonly limits: SandboxLimits
  readonly confinement: ConfinementCommandShape
  /** Absolute folder for the levels' own files while the service is running. */
  readonly ownFolder: string
}
