import { Context } from "effect"
import type { SandboxLevel } from "../../schema/records/Run.ts"
import { metadataRanges, type NetworkSettings } from "./network/NetworkSettings.ts"

/**
 * `auto`: the best accepted level on this machine; without an accepted level, Runs are refused. `required`: a sandbox with its
 * own namespaces, otherwise Runs are refused. `off`: plain child processes that can reach the service's own files.
 */
export type Isolation = "auto" | "required" | "off"

/** Upper bounds for one sandboxed process tree. */
export interface SandboxLimits {
  /** Number of processes and threads; enforced only if the sandbox has its own process count. */
  readonly processes: number
  readonly openFiles: number
  /** Largest file that may be written, in bytes. */
  readonly fileBytes: number
  /** Size of a private /tmp, in bytes, which uses memory. */
  readonly tmpBytes: number
  /** Size of a private /dev/shm, in bytes. */
  readonly shmBytes: number
  /** Total memory of all the Run's processes. */
  readonly memoryBytes: number
  /** Total size of the run folder. */
  readonly folderBytes: number
  /** Space that Runs must leave free on the run folders' disk; on a small disk, a twentieth of its size. */
  readonly freeBytes: number
}

/**
 * The isolation of module code from this machine.
 *
 * - `levels`: the levels that may be chosen, in any order; `process` is never among them
 * - `trustedTrees`: digests of module trees that may run at `process` if nothing better works; see `treeDigest`
 * - `bubblewrap`, `unshare`, `setpriv`, `prlimit`, `seatbelt`: names on PATH or absolute paths
 * - `extraReadOnly`, `extraWritable`: absolute paths that every sandbox may see in addition to the system folders
 * - `userIds`: the unprivileged ids that the `user_landlock` level assigns, one per Run; these ids and the next id, which is
 *   their common group, must be unused. If another service on this machine has taken them, svc uses the next free range up to
 *   65533
 * - `ownFolder`: absolute folder for the sandbox's own files; a temporary folder when undefined
 * - `controlGroups`: true if control groups may enforce limits, provided that they can be created
 * - `dataFolder`: absolute path of the service's data folder. At the `user_landlock` level, Runs may be granted traversal of
 *   folders in it, and through no others
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
