import { Context } from "effect"

/** `auto`: the best level of this machine. `required`: refuse to run below bubblewrap. `off`: plain child processes. */
export type Isolation = "auto" | "required" | "off"

/** Upper bounds of one sandboxed process tree, enforced by the kernel where `prlimit` exists. */
export interface SandboxLimits {
  /** Processes and threads; only enforced at the bubblewrap level, where the count is the sandbox's own. */
  readonly processes: number
  readonly openFiles: number
  /** Largest file that may be written, in bytes. */
  readonly fileBytes: number
}

/**
 * How module code is kept apart from this machine.
 *
 * - `bubblewrap`, `setpriv`, `prlimit`: names on PATH or absolute paths
 * - `extraReadOnly`, `extraWritable`: absolute paths that every sandbox may see besides the system folders
 * - `userIds`: the unprivileged ids that the `user` level hands out, one a run; they must belong to nobody
 * - `ownFolder`: absolute folder for what the sandbox itself keeps on the disk; a temporary one when undefined
 * - `runsRoot`: where run folders live, so that the start-up probe can tell whether the `user` level can reach them
 */
export interface SandboxSettingsShape {
  readonly isolation: Isolation
  readonly bubblewrap: string
  readonly setpriv: string
  readonly prlimit: string
  readonly extraReadOnly: ReadonlyArray<string>
  readonly extraWritable: ReadonlyArray<string>
  readonly userIds: { readonly first: number; readonly count: number }
  readonly ownFolder: string | undefined
  readonly runsRoot: string | undefined
  readonly limits: SandboxLimits
}

export const defaultSandboxSettings: SandboxSettingsShape = {
  isolation: "auto",
  bubblewrap: "bwrap",
  setpriv: "setpriv",
  prlimit: "prlimit",
  extraReadOnly: [],
  extraWritable: [],
  userIds: { first: 61_440, count: 256 },
  ownFolder: undefined,
  runsRoot: undefined,
  limits: { processes: 4096, openFiles: 16_384, fileBytes: 8 * 1024 ** 3 }
}

export const SandboxSettings = Context.Reference<SandboxSettingsShape>("svc/sandbox/SandboxSettings", {
  defaultValue: () => defaultSandboxSettings
})
