import { Context } from "effect"
import type { SandboxLevel } from "../../schema/records/Run.ts"
import { metadataRanges, type NetworkSettings } from "./network/NetworkSettings.ts"

/**
 * `auto`: the best accepted level of this machine, else Runs are refused. `required`: a sandbox with namespaces of its own, else Runs are
 * refused. `off`: plain child processes, which nothing keeps from the service's own files.
 */
export type Isolation = "auto" | "required" | "off"

/** Upper bounds of one sandboxed process tree. */
export interface SandboxLimits {
  /** Processes and threads; only enforced where the count is the sandbox's own. */
  readonly processes: number
  readonly openFiles: number
  /** Largest file that may be written, in bytes. */
  readonly fileBytes: number
  /** What a private /tmp may hold, in bytes; it lies in memory. */
  readonly tmpBytes: number
  /** What a private /dev/shm may hold, in bytes. */
  readonly shmBytes: number
  /** Memory of all processes of a Run together. */
  readonly memoryBytes: number
  /** The run folder as a whole. */
  readonly folderBytes: number
  /** Free space that the Runs leave on the disk of the run folders; on a small disk, the twentieth part of it. */
  readonly freeBytes: number
}

/**
 * How module code is kept apart from this machine.
 *
 * - `levels`: the levels that may be chosen, whatever their order here; `process` is never among them
 * - `trustedTrees`: digests of module trees that may run at `process` where nothing better works; see `treeDigest`
 * - `bubblewrap`, `unshare`, `setpriv`, `prlimit`, `seatbelt`: names on PATH or absolute paths
 * - `extraReadOnly`, `extraWritable`: absolute paths that every sandbox may see besides the system folders
 * - `userIds`: the unprivileged ids that the `user_landlock` level hands out, one a Run; they and the id after them, which is the group
 *   of all of them, must belong to nobody. Where another service of this machine has taken them, the next ones up to 65533 are
 * - `ownFolder`: absolute folder for what the sandbox itself keeps on the disk; a temporary one when undefined
 * - `controlGroups`: whether limits may be kept by groups of the kernel, where those can be made
 * - `dataFolder`: absolute folder of the service. At the `user_landlock` level, Runs may be let pass through folders in it, and through
 *   no others
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

export const SandboxSettings = Context.Reference<SandboxSettingsShape>("svc/sandbox/SandboxSettings", {
  defaultValue: () => defaultSandboxSettings
})
