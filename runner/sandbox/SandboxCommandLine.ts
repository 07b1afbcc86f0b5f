import { type SandboxEtc, settingsFiles, settingsFolders } from "./HostSettings.ts"
import type { SandboxLimits } from "./SandboxSettings.ts"

/** Where the run's own folder appears at the bubblewrap level: constant, so that paths in plans do not change between runs. */
export const insideRoot = "/capsule"

/** What the child may search; nothing of the service's own PATH is inherited. */
export const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/** Where a package manager keeps all that it installs, on systems that have it. */
const packageStore = "/nix/store"

/** Top folders that are a link into /usr on merged systems and a real folder elsewhere. */
export const systemFolders = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"]

export type SystemFolder =
  | { readonly path: string; readonly kind: "link"; readonly target: string }
  | { readonly path: string; readonly kind: "folder" }

const limitArguments = (limits: SandboxLimits, own: { readonly processes: boolean }): ReadonlyArray<string> => [
  "--core=0",
  `--nofile=${limits.openFiles}`,
  `--fsize=${limits.fileBytes}`,
  ...(own.processes ? [`--nproc=${limits.processes}`] : [])
]

const limited = (
  prlimit: string | undefined,
  limits: SandboxLimits,
  argv: ReadonlyArray<string>,
  own: { readonly processes: boolean }
): ReadonlyArray<string> => (prlimit === undefined ? argv : [prlimit, ...limitArguments(limits, own), "--", ...argv])

export interface CommandLine {
  readonly program: string
  readonly args: ReadonlyArray<string>
}

const commandLine = (words: ReadonlyArray<string>): CommandLine => {
  const [program = "", ...args] = words
  return { program, args }
}

export interface BubblewrapRequest {
  readonly bubblewrap: string
  /** Namespace flags that the start-up probe found to work here. */
  readonly namespaces: ReadonlyArray<string>
  readonly systemFolders: ReadonlyArray<SystemFolder>
  /** When absent, each of the host's settings is mounted by itself. */
  readonly etc: SandboxEtc | undefined
  readonly prlimit: string | undefined
  readonly limits: SandboxLimits
  readonly root: string
  /** Left out where they do not exist. */
  readonly optional: { readonly readOnly: ReadonlyArray<string>; readonly writable: ReadonlyArray<string> }
  readonly readOnly: ReadonlyArray<string>
  readonly writable: ReadonlyArray<string>
  readonly network: boolean
  /** Inside path. */
  readonly cwd: string
  readonly argv: ReadonlyArray<string>
  /** File descriptor that receives the ids of the sandbox. */
  readonly infoFd: number
}

const sameTry = (name: string) => ["--ro-bind-try", `/etc/${name}`, `/etc/${name}`]

const etcArguments = (etc: SandboxEtc | undefined): ReadonlyArray<string> =>
  etc === undefined
    ? [...settingsFiles, ...settingsFolders].flatMap(sameTry)
    : ["--ro-bind", etc.folder, "/etc", ...etc.overlaid.flatMap(sameTry)]

/**
 * The environment is not part of the command line (arguments are world readable): bubblewrap itself is started with exactly the
 * run's environment, because the process with id 1 shows it in /proc.
 */
export const bubblewrapCommandLine = (request: BubblewrapRequest): CommandLine =>
  commandLine([
    request.bubblewrap,
    ...request.namespaces,
    ...(request.network ? ["--share-net"] : []),
    "--die-with-parent",
    "--new-session",
    "--as-pid-1",
    "--cap-drop",
    "ALL",
    "--info-fd",
    String(request.infoFd),
    "--ro-bind",
    "/usr",
    "/usr",
    ...request.systemFolders.flatMap((folder) =>
      folder.kind === "link" ? ["--symlink", folder.target, folder.path] : ["--ro-bind", folder.path, folder.path]
    ),
    ...etcArguments(request.etc),
    "--ro-bind-try",
    packageStore,
    packageStore,
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "--tmpfs",
    "/tmp",
    ...request.optional.readOnly.flatMap((path) => ["--ro-bind-try", path, path]),
    ...request.optional.writable.flatMap((path) => ["--bind-try", path, path]),
    ...request.readOnly.flatMap((path) => ["--ro-bind", path, path]),
    ...request.writable.flatMap((path) => ["--bind", path, path]),
    "--bind",
    request.root,
    insideRoot,
    "--chdir",
    request.cwd,
    "--",
    ...limited(request.prlimit, request.limits, request.argv, { processes: true })
  ])

export const userCommandLine = (request: {
  readonly setpriv: string
  readonly userId: number
  readonly prlimit: string | undefined
  readonly limits: SandboxLimits
  readonly argv: ReadonlyArray<string>
}): CommandLine =>
  commandLine([
    request.setpriv,
    `--reuid=${request.userId}`,
    `--regid=${request.userId}`,
    "--clear-groups",
    "--no-new-privs",
    "--inh-caps=-all",
    "--ambient-caps=-all",
    "--bounding-set=-all",
    "--",
    ...limited(request.prlimit, request.limits, request.argv, { processes: false })
  ])

/** Ends every process of a run's own user id, also those that left its process group. */
export const userKillCommandLine = (setpriv: string, userId: number): CommandLine =>
  commandLine([
    setpriv,
    `--reuid=${userId}`,
    `--regid=${userId}`,
    "--clear-groups",
    "--",
    "/bin/sh",
    "-c",
    "kill -KILL -1"
  ])

export const processCommandLine = (request: {
  readonly prlimit: string | undefined
  readonly limits: SandboxLimits
  readonly argv: ReadonlyArray<string>
}): CommandLine => commandLine(limited(request.prlimit, request.limits, request.argv, { processes: false }))
