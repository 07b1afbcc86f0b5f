import { constants } from "node:fs"
import { access, lstat, readFile, readlink, stat } from "node:fs/promises"
import { delimiter, dirname, isAbsolute, join, resolve } from "node:path"
import { Effect, Fiber, Stream } from "effect"
import { ChildProcess, type ChildProcessSpawner } from "effect/process"
import { type SystemFolder, systemFolders, systemPath } from "./SandboxCommandLine.ts"
import type { SandboxLimits, SandboxSettingsShape } from "./SandboxSettings.ts"
import type { SandboxStatus } from "./SandboxStatus.ts"

/** The way a level is reached; its `level` is the one of the status. */
export type Rung =
  | {
      readonly level: "bubblewrap"
      readonly program: string
      readonly namespaces: ReadonlyArray<string>
      readonly systemFolders: ReadonlyArray<SystemFolder>
    }
  | { readonly level: "user"; readonly setpriv: string }
  | { readonly level: "process" }

/** Everything the probe learned about this machine; decided once at start-up. */
export interface ProbedMachine {
  readonly status: SandboxStatus
  readonly rung: Rung
  readonly prlimit: string | undefined
  /** The wanted limits, lowered to what this process itself may use: raising a limit would need rights nobody has. */
  readonly limits: SandboxLimits
}

const attempt = <A>(evaluate: () => Promise<A>): Effect.Effect<A | undefined> =>
  Effect.tryPromise(evaluate).pipe(Effect.orElseSucceed(() => undefined))

const isExecutable = (path: string) => attempt(() => access(path, constants.X_OK).then(() => true))

/** Absolute path of a program given by name or path; looks only where the operating system installs programs. */
const findProgram = Effect.fnUntraced(function* (program: string) {
  const candidates = isAbsolute(program)
    ? [program]
    : systemPath.split(delimiter).map((folder) => join(folder, program))
  for (const candidate of candidates) {
    if (yield* isExecutable(candidate)) return candidate
  }
  return undefined
})

const describeFolder = Effect.fnUntraced(function* (path: string) {
  const entry = yield* attempt(() => lstat(path))
  if (entry === undefined) return undefined
  if (entry.isSymbolicLink()) {
    const target = yield* attempt(() => readlink(path))
    return target === undefined ? undefined : ({ path, kind: "link", target } satisfies SystemFolder)
  }
  return entry.isDirectory() ? ({ path, kind: "folder" } satisfies SystemFolder) : undefined
})

const hardLimit = (table: string, name: string): number => {
  const line = table.split("\n").find((candidate) => candidate.startsWith(name))
  const [, hard] = line?.slice(name.length).trim().split(/\s+/) ?? []
  return hard === undefined || hard === "unlimited" ? Number.POSITIVE_INFINITY : Number(hard)
}

const allowedLimits = Effect.fnUntraced(function* (wanted: SandboxLimits) {
  const table = (yield* attempt(() => readFile("/proc/self/limits", "utf8"))) ?? ""
  return {
    processes: Math.min(wanted.processes, hardLimit(table, "Max processes")),
    openFiles: Math.min(wanted.openFiles, hardLimit(table, "Max open files")),
    fileBytes: Math.min(wanted.fileBytes, hardLimit(table, "Max file size"))
  }
})

/** From the tightest to the loosest that still separates processes, files and network. */
const namespaceVariants: ReadonlyArray<ReadonlyArray<string>> = [
  ["--unshare-all", "--unshare-user", "--disable-userns"],
  ["--unshare-all", "--unshare-user"],
  ["--unshare-all"]
]

const probeArguments = [
  "--die-with-parent",
  "--new-session",
  "--as-pid-1",
  "--cap-drop",
  "ALL",
  "--ro-bind",
  "/",
  "/",
  "--proc",
  "/proc",
  "true"
]

const longestSaid = 200

/** What bubblewrap says against these namespaces; `undefined` when it works. */
const probeVariant = Effect.fnUntraced(
  function* (
    spawner: ChildProcessSpawner.ChildProcessSpawner["Service"],
    bubblewrap: string,
    namespaces: ReadonlyArray<string>
  ) {
    const child = yield* spawner.spawn(
      ChildProcess.make(bubblewrap, [...namespaces, ...probeArguments], {
        env: { PATH: systemPath },
        stdin: "ignore",
        stdout: "ignore",
        stderr: "pipe",
        killSignal: "SIGKILL"
      })
    )
    const [said, code] = yield* Effect.all([Stream.mkString(Stream.decodeText(child.stderr)), child.exitCode], {
      concurrency: 2
    })
    if (Number(code) === 0) return undefined
    return (said.trim().split("\n").at(-1) ?? "").slice(0, longestSaid) || `it ended with ${code}`
  },
  Effect.scoped,
  Effect.timeout("10 seconds"),
  Effect.orElseSucceed(() => "it did not answer")
)

/** Whether somebody without rights of their own can reach the folder: every folder above must be passable by others. */
export const isPassable = Effect.fnUntraced(function* (folder: string) {
  for (let current = resolve(folder); current !== dirname(current); current = dirname(current)) {
    const entry = yield* attempt(() => stat(current))
    if (entry !== undefined && (entry.mode & 0o001) === 0) return false
  }
  return true
})

/** What would let bubblewrap work, by what it said; `undefined` for one that was not found. */
const remedyFor = (said: string | undefined, settings: SandboxSettingsShape): string => {
  const mend =
    said === undefined
      ? "Install the 'bubblewrap' package"
      : said.includes("mount proc")
        ? "Let nothing be mounted over a part of /proc, as some settings of a service unit and of containers do"
        : "Allow this user to make user namespaces"
  const otherwise = settings.isolation === "required" ? "" : ", or set the isolation to 'required' to refuse runs"
  return `${mend}${otherwise}: see Isolation in docs/operations.md.`
}

const probeBubblewrap = Effect.fnUntraced(function* (
  spawner: ChildProcessSpawner.ChildProcessSpawner["Service"],
  program: string
): Effect.fn.Return<Rung | { readonly level: "refused"; readonly said: string }> {
  const folders = yield* Effect.forkChild(Effect.forEach(systemFolders, describeFolder, { concurrency: "unbounded" }))
  let said = ""
  for (const namespaces of namespaceVariants) {
    const refusal = yield* probeVariant(spawner, program, namespaces)
    if (refusal !== undefined) {
      said = refusal
      continue
    }
    const found = yield* Fiber.join(folders)
    return {
      level: "bubblewrap",
      program,
      namespaces,
      systemFolders: found.filter((folder) => folder !== undefined)
    }
  }
  return { level: "refused", said }
})

const chooseRung = Effect.fnUntraced(function* (
  spawner: ChildProcessSpawner.ChildProcessSpawner["Service"],
  settings: SandboxSettingsShape
): Effect.fn.Return<{ readonly rung: Rung; readonly reason: string; readonly remedy?: string }> {
  if (settings.isolation === "off") {
    return {
      rung: { level: "process" },
      reason: "Run isolation is switched off: module code runs with the rights of the service's user.",
      remedy: "Set the isolation to 'auto' or 'required'."
    }
  }
  const program = yield* findProgram(settings.bubblewrap)
  const bubblewrap = program === undefined ? undefined : yield* probeBubblewrap(spawner, program)
  if (bubblewrap !== undefined && bubblewrap.level !== "refused") {
    return { rung: bubblewrap, reason: "bubblewrap separates files, processes and network of every run." }
  }
  const missing =
    bubblewrap === undefined
      ? "bubblewrap was not found"
      : `bubblewrap is installed and does not work here (${bubblewrap.said})`
  const remedy = remedyFor(bubblewrap?.said, settings)
  const setpriv = process.getuid?.() === 0 ? yield* findProgram(settings.setpriv) : undefined
  const reachable = settings.runsRoot === undefined || (yield* isPassable(settings.runsRoot))
  if (setpriv !== undefined && reachable) {
    return {
      rung: { level: "user", setpriv },
      reason: `${missing}; every run gets an unprivileged user id of its own. Module code can read world-readable files and use the network.`,
      remedy
    }
  }
  const unreachable =
    setpriv === undefined
      ? ""
      : " An unprivileged user cannot pass the folders above the run folders; give them mode 711 for a user id a run."
  return {
    rung: { level: "process" },
    reason: `${missing}. Module code runs with the rights of the service's user and can read its files.`,
    remedy: remedy + unreachable
  }
})

/**
 * Finds the best level that works here. Ladder: bubblewrap, then (for root) an unprivileged user id a run, then plain child
 * processes. Never fails: what is missing is told in the status.
 */
export const probeMachine = Effect.fn("Sandbox.probe")(function* (
  spawner: ChildProcessSpawner.ChildProcessSpawner["Service"],
  settings: SandboxSettingsShape
): Effect.fn.Return<ProbedMachine> {
  const [{ rung, reason, remedy }, prlimit, limits] = yield* Effect.all(
    [chooseRung(spawner, settings), findProgram(settings.prlimit), allowedLimits(settings.limits)],
    { concurrency: "unbounded" }
  )
  return {
    status: {
      level: rung.level,
      accepted: settings.isolation !== "required" || rung.level === "bubblewrap",
      reason,
      ...(remedy === undefined ? {} : { remedy })
    },
    rung,
    prlimit,
    limits
  }
})
