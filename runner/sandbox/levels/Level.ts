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
 * - `root`: absolute folder of the run; its programs can write only to it and to a private /tmp
 * - `readOnly`: absolute paths that all its programs may read, such as that of the tool; they are the same inside the
 *   sandbox - `lent`: absolute paths on the server that individual programs may read, see `SandboxedCommand.readOnly`
 * - `temporary`: folder relative to the root for temporary files, if the level has no private /tmp
 * - `processNote`: absolute path of a file next to the root that records processes that must not survive the run, so that svc
 *   finds them after a crash
 * - `requirements`: the requirements of the Run's execution profile for the machine
 * - `moduleTree`: digest of the module's tree, if the tree alone determines which code is executed; see
 *   `Sandbox.trustsTrees`
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
 * A program to run.
 * - `argv`: program and arguments, without a shell
 * - `cwd`: folder relative to the root
 * - `environment`: the complete environment; nothing is inherited
 * - `network`: true if the program may use the Internet; the level `process` cannot prevent it
 * - `readOnly`: absolute paths that only this program may read, in addition to the paths that the whole sandbox may read; at
 *   the level `user_landlock` they must be in `SandboxSpec.lent`
 */
export interface SandboxedCommand {
  readonly argv: readonly [string, ...ReadonlyArray<string>]
  readonly cwd: string
  readonly environment: ProcessEnvironment
  readonly network: boolean
  readonly readOnly?: ReadonlyArray<string>
  /**
   * True if the program only installs packages. An installation has no state to save, so svc kills the program immediately
   * when the folder exceeds the limit, and measures the folder again after the program ends.
   */
  readonly isInstallation?: boolean
}

export interface OpenSandbox {
  /** Path of `SandboxSpec.root` as programs see it. */
  readonly root: string
  /** Private folder for temporary files, with a path short enough for sockets. */
  readonly temporary: string
  readonly spawn: (command: SandboxedCommand) => Effect.Effect<SandboxProcess, SandboxSpawnFailed, Scope.Scope>
}

/** A way to isolate module code. Everything in the root must be written before `open`. */
export interface Level {
  readonly level: SandboxLevel
  /** Path of `root` as programs see it. Available before the sandbox is opened. */
  readonly insideRoot: (root: string) => string
  readonly open: (
    spec: SandboxSpec,
    conditions: RunConditions
  ) => Effect.Effect<OpenSandbox, SandboxRefused, Scope.Scope>
}

/** Facts about the host that every level needs. */
export interface LevelHost {
  readonly spawner: ChildProcessSpawner.ChildProcessSpawner["Service"]
  readonly settings: SandboxSettingsShape
  /** Requested limits, lowered to this process's own limits, because raising a limit requires privileges. */
  readonly limits: SandboxLimits
  readonly confinement: ConfinementCommandShape
  /** Absolute folder for the levels' own files while the server runs. */
  readonly ownFolder: string
}
