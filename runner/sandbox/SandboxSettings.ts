import { Context } from "effect"
import type { SandboxLevel } from "../../schema/records/Run.ts"
import { metadataRanges, type NetworkSettings } from "./network/NetworkSettings.ts"

/**
 * - `auto`: the best accepted level on this machine; Runs are refused if there is none
 * - `required`: only levels with their own namespaces
 * - `off`: plain child processes, which can access the server's own files
 */
export type Isolation = "auto" | "required" | "off"

/** Limits for one process tree in a sandbox. */
export interface SandboxLimits {
  /** Maximum number of processes and threads. Enforced only if the sandbox has its own process count. */
  readonly processes: number
  readonly openFiles: number
  /** Maximum size of a written file in bytes. */
  readonly fileBytes: number
  /** Maximum size of a private /tmp in bytes. Files in /tmp use memory. */
  readonly tmpBytes: number
  /** Maximum size of a private /dev/shm in bytes. */
  readonly shmBytes: number
  /** Maximum total memory of all processes of the Run. */
  readonly memoryBytes: number
  /** Maximum total size of the run folder. */
  readonly folderBytes: number
  /**
   * Space that Runs must leave free on the disk of the run folders. On a small disk, svc uses a twentieth of the disk's size
   * instead.
   */
  readonly freeBytes: number
}

/**
 * The isolation of module code from this machine.
 *
 * - `levels`: the levels that may be chosen, in any order; never includes `process`
 * - `trustedTrees`: digests of module trees that may run at `process` if nothing better works; see `treeDigest`
 * - `bubblewrap`, `unshare`, `setpriv`, `prlimit`, `seatbelt`: names on PATH or absolute paths
 * - `extraReadOnly`, `extraWritable`: absolute paths that every sandbox contains in addition to the system folders
 * - `userIds`: unprivileged ids that the level `user_landlock` assigns, one per Run; these ids, and the following id, which
 *   becomes their common group, must be unused; if another server on this machine has taken them, svc uses the next free
 *   range up to 65533
 * - `ownFolder`: absolute folder for the sandbox's own files; a temporary folder if undefined
 * - `controlGroups`: if true, limits are enforced with control groups where svc can create them
 * - `dataFolder`: absolute path of the server's data folder; at the level `user_landlock`, Runs may get permission to
 *   traverse folders inside this folder, but not folders elsewhere
 */
export interface SandboxSettingsShape {
  readonly isolation: Isolation
  readonly levels: ReadonlyArray<SandboxLevel>
  readonly trustedTrees: ReadonlyArray<string>
  readonly bubblewrap: string
  readonly unshare: string
  readonly setpriv: string
  readonly prlimit: string
  readonly seatbelt: string
  readonly extraReadOnly: ReadonlyArray<string>
  readonly extraWritable: ReadonlyArray<string>
  readonly userIds: { readonly first: number; readonly count: number }
  readonly ownFolder: string | undefined
  readonly dataFolder: string | undefined
  readonly controlGroups: boolean
  readonly limits: SandboxLimits
  readonly network: NetworkSettings
}

const mebibyte = 1024 ** 2

export const defaultSandboxSettings: SandboxSettingsShape = {
  isolation: "auto",
  levels: ["bubblewrap", "namespaces", "user_landlock", "landlock", "seatbelt"],
  trustedTrees: [],
  bubblewrap: "bwrap",
  unshare: "unshare",
  setpriv: "setpriv",
  prlimit: "prlimit",
  seatbelt: "sandbox-exec",
  extraReadOnly: [],
  extraWritable: [],
  userIds: { first: 61_440, count: 256 },
  ownFolder: undefined,
  dataFolder: undefined,
  controlGroups: true,
  limits: {
    processes: 4096,
    openFiles: 16_384,
    fileBytes: 8 * 1024 * mebibyte,
    tmpBytes: 1024 * mebibyte,
    shmBytes: 64 * mebibyte,
    memoryBytes: 4 * 1024 * mebibyte,
    folderBytes: 8 * 1024 * mebibyte,
    freeBytes: 512 * mebibyte
  },
  network: { reach: "auto", forbidden: metadataRanges, pasta: "pasta" }
}

export const SandboxSettings = Context.Reference<SandboxSettingsShape>("svc/runner/sandbox/SandboxSettings", {
  defaultValue: () => defaultSandboxSettings
})
