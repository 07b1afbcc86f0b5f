import type { Placement } from "./confinement/ConfinementSpec.ts"
import { type SandboxEtc, settingsFiles, settingsFolders } from "./HostSettings.ts"
import type { SandboxLimits } from "./SandboxSettings.ts"

/**
 * Path of the run's folder in a sandbox with its own file system. The path is constant, so that paths in plans do not change
 * between runs.
 */
export const insideRoot = "/capsule"

/** The search path for programs. Does not depend on the server's own PATH. */
export const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/** Folder in which the Nix package manager stores everything it installs. */
const packageStore = "/nix/store"

/** Top-level folders that are links into /usr on merged systems, and real folders elsewhere. */
export const systemFolders = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"]

export type SystemFolder =
  | { readonly path: string; readonly kind: "link"; readonly target: string }
  | { readonly path: string; readonly kind: "folder" }

/** The files that a run's programs may see, whatever the level. */
export interface SandboxView {
  readonly systemFolders: ReadonlyArray<SystemFolder>
  /** If absent, each of the host's settings is mounted separately. */
  readonly etc: SandboxEtc | undefined
  /** File to mount as /etc/resolv.conf; undefined for the host's file. */
  readonly resolvConf: string | undefined
  readonly limits: SandboxLimits
  readonly root: string
  /** Paths that the sandbox skips if they do not exist. */
  readonly optional: { readonly readOnly: ReadonlyArray<string>; readonly writable: ReadonlyArray<string> }
  readonly readOnly: ReadonlyArray<string>
}

const same = (path: string, writable: boolean, optional: boolean): Placement => ({
  kind: "bind",
  from: path,
  to: path,
  writable,
  optional
})

const etcPlacements = ({ etc, resolvConf }: Pick<SandboxView, "etc" | "resolvConf">): ReadonlyArray<Placement> => [
  ...(etc === undefined
    ? [...settingsFiles, ...settingsFolders].map((name) => same(`/etc/${name}`, false, true))
    : [
        { kind: "bind", from: etc.folder, to: "/etc", writable: false, optional: false } as const,
        ...etc.overlaid.map((name) => same(`/etc/${name}`, false, true))
      ]),
  ...(resolvConf === undefined
    ? []
    : [{ kind: "bind", from: resolvConf, to: "/etc/resolv.conf", writable: false, optional: false } as const])
]

/** Builds the file system of a sandbox with its own mounts, in mount order. */
export const placementsOf = (view: SandboxView): ReadonlyArray<Placement> => [
  same("/usr", false, false),
  ...view.systemFolders.map(
    (folder): Placement =>
      folder.kind === "link"
        ? { kind: "link", target: folder.target, path: folder.path }
        : same(folder.path, false, false)
  ),
  ...etcPlacements(view),
  same(packageStore, false, true),
  { kind: "processes", path: "/proc" },
  { kind: "devices", path: "/dev" },
  { kind: "memory", path: "/dev/shm", bytes: view.limits.shmBytes, mode: "1777" },
  { kind: "memory", path: "/tmp", bytes: view.limits.tmpBytes, mode: "1777" },
  ...view.optional.readOnly.map((path) => same(path, false, true)),
  ...view.optional.writable.map((path) => same(path, true, true)),
  ...view.readOnly.map((path) => same(path, false, false)),
  { kind: "bind", from: view.root, to: insideRoot, writable: true, optional: false }
]

/** Lists the host paths that a sandbox without its own mounts may read. */
export const readablePaths = (view: Pick<SandboxView, "optional" | "readOnly">): ReadonlyArray<string> => [
  "/usr",
  ...systemFolders,
  ...[...settingsFiles, ...settingsFolders].map((name) => `/etc/${name}`),
  packageStore,
  // Include /proc, because some runtimes need it to start. The confinement hides other processes in /proc.
  "/proc",
  ...view.optional.readOnly,
  ...view.readOnly
]

/** The kernel's numbers for resource limits, which are the same on every supported architecture. */
const resource = { fileSize: 1, core: 4, processes: 6, openFiles: 7 } as const

/**
 * Encodes the limits for the kernel. The kernel counts processes per user, so `others` is added to the Run's process limit.
 */
export const resourceLimits = (
  limits: SandboxLimits,
  others: number
): ReadonlyArray<readonly [resource: number, value: number]> => [
  [resource.core, 0],
  [resource.openFiles, limits.openFiles],
  [resource.fileSize, limits.fileBytes],
  [resource.processes, limits.processes + others]
]
