import { join } from "node:path"
import { Effect, Option, Stream } from "effect"
import { ChildProcess, type ChildProcessSpawner } from "effect/process"
import { kernelInterfaces, type Placement } from "../confinement/ConfinementSpec.ts"
import { type NetworkEntry, within } from "../network/NetworkNamespace.ts"
import type { HostSettings } from "../HostSettings.ts"
import { describeSystem, findProgram } from "../InstalledProgram.ts"
import type { Rung, Verdict } from "../SandboxLadder.ts"
import type { CommandLine } from "../CommandLine.ts"
import { notedIn } from "../ProcessNote.ts"
import { spawnProcess } from "../SandboxProcess.ts"
import type { SandboxLimits } from "../SandboxSettings.ts"
import { insideRoot, placementsOf, type SystemFolder, systemPath } from "../SandboxView.ts"
import { ownFilter } from "../seccomp/SeccompProgram.ts"
import { KnownVariants } from "./KnownVariants.ts"
import type { Level, LevelHost, OpenSandbox } from "./Level.ts"

/**
 * File descriptors of bubblewrap. It reports the id of the started process on `information`, and reads the system call
 * filter from `filter`.
 */
const fds = { information: 3, filter: 4 } as const

/** Features that bubblewrap supports on this machine. */
interface Variant {
  readonly namespaces: ReadonlyArray<string>
  /** True if bubblewrap can limit the size of an in-memory file system, which requires release 0.7. */
  readonly sized: boolean
}

/** The variants, strictest first. Each separates processes, files and network. */
const variants: ReadonlyArray<Variant> = [
  { namespaces: ["--unshare-all", "--unshare-user", "--disable-userns"], sized: true },
  { namespaces: ["--unshare-all", "--unshare-user"], sized: true },
  { namespaces: ["--unshare-all", "--unshare-user"], sized: false },
  { namespaces: ["--unshare-all"], sized: false }
]

const argumentsOf = (placement: Placement, sized: boolean): ReadonlyArray<string> => {
  switch (placement.kind) {
    case "bind":
      return [
        `--${placement.writable ? "" : "ro-"}bind${placement.optional ? "-try" : ""}`,
        placement.from,
        placement.to
      ]
    case "link":
      return ["--symlink", placement.target, placement.path]
    case "memory":
      return sized
        ? ["--perms", placement.mode, "--size", String(placement.bytes), "--tmpfs", placement.path]
        : ["--tmpfs", placement.path]
    case "processes":
      return [
        "--proc",
        placement.path,
        // Bind each kernel setting read-only: bubblewrap protects a folder only if the folder itself is writable, and the
        // folder of kernel settings is not.
        ...kernelInterfaces.flatMap((name) => ["--ro-bind-try", `/proc/${name}`, `${placement.path}/${name}`])
      ]
    case "devices":
      return ["--dev", placement.path]
  }
}

/**
 * Make `/` and `/dev` read-only. bubblewrap creates them as in-memory file systems without a size limit. Read-only file
 * systems cannot grow, and mounts below them are not affected.
 */
const sealed = ["/", "/dev"].flatMap((path) => ["--remount-ro", path])

const filterArguments = (filter: Uint8Array | undefined) =>
  filter === undefined ? [] : ["--seccomp", String(fds.filter)]

const filterInputs = (filter: Uint8Array | undefined) =>
  filter === undefined ? [] : [[fds.filter, Stream.make(filter)] as const]

const limitArguments = (limits: SandboxLimits): ReadonlyArray<string> => [
  "--core=0",
  `--nofile=${limits.openFiles}`,
  `--fsize=${limits.fileBytes}`,
  `--nproc=${limits.processes}`
]

const hardening = ["--die-with-parent", "--new-session", "--as-pid-1", "--cap-drop", "ALL"]

/**
 * In a Run's own network, the server's user appears as root. Map root back to the server's user, so that programs run as the
 * same user in every network.
 */
const identityIn = ({ enter }: NetworkEntry, { namespaces }: Variant): ReadonlyArray<string> =>
  enter.length === 0 || !namespaces.includes("--unshare-user")
    ? []
    : ["--uid", String(process.getuid?.() ?? 0), "--gid", String(process.getgid?.() ?? 0)]

const longestSaid = 200

const probeArguments = ({ namespaces, sized }: Variant, filter: Uint8Array | undefined): ReadonlyArray<string> => {
  const placements: ReadonlyArray<Placement> = [
    { kind: "bind", from: "/", to: "/", writable: false, optional: false },
    { kind: "processes", path: "/proc" },
    { kind: "devices", path: "/dev" },
    { kind: "memory", path: "/dev/shm", bytes: 4096, mode: "1777" }
  ]
  return [
    ...namespaces,
    ...hardening,
    ...filterArguments(filter),
    ...placements.flatMap((placement) => argumentsOf(placement, sized)),
    ...sealed,
    "true"
  ]
}

/** Tries these arguments. Returns bubblewrap's error message, or `undefined` if the arguments work. */
const probe = Effect.fnUntraced(
  function* (
    spawner: ChildProcessSpawner.ChildProcessSpawner["Service"],
    bubblewrap: string,
    words: ReadonlyArray<string>,
    filter: Uint8Array | undefined
  ) {
    const child = yield* spawner.spawn(
      ChildProcess.make(bubblewrap, words, {
        env: { PATH: systemPath },
        stdin: "ignore",
        stdout: "ignore",
        stderr: "pipe",
        killSignal: "SIGKILL",
        additionalFds: Object.fromEntries(
          filterInputs(filter).map(([fd, stream]) => [`fd${fd}`, { type: "input" as const, stream }])
        )
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

/** Returns the remedy for a bubblewrap error message. */
const remedyFor = (said: string | undefined): string => {
  const mend =
    said === undefined
      ? "Install the 'bubblewrap' package"
      : said.includes("mount proc")
        ? "Let nothing be mounted over a part of /proc, as some settings of a service unit and of containers do"
        : "Allow this user to make user namespaces"
  return `${mend}: see docs/operations/isolation.md.`
}

interface Bubblewrap {
  readonly program: string
  readonly variant: Variant
  readonly systemFolders: ReadonlyArray<SystemFolder>
  readonly prlimit: string | undefined
}

const levelOf = (
  host: LevelHost,
  found: Bubblewrap,
  filter: Uint8Array | undefined,
  hostSettings: HostSettings
): Level => {
  const { settings, spawner } = host
  const commandLine = (
    placements: ReadonlyArray<Placement>,
    command: { readonly argv: ReadonlyArray<string>; readonly cwd: string },
    network: NetworkEntry | undefined,
    limits: SandboxLimits
  ): CommandLine =>
    within(network, [
      found.program,
      ...found.variant.namespaces,
      ...(network === undefined ? [] : ["--share-net", ...identityIn(network, found.variant)]),
      ...hardening,
      "--info-fd",
      String(fds.information),
      ...filterArguments(filter),
      ...placements.flatMap((placement) => argumentsOf(placement, found.variant.sized)),
      ...sealed,
      "--chdir",
      join(insideRoot, command.cwd),
      "--",
      ...(found.prlimit === undefined ? [] : [found.prlimit, ...limitArguments(limits), "--"]),
      ...command.argv
    ])
  return {
    level: "bubblewrap",
    insideRoot: () => insideRoot,
    open: Effect.fnUntraced(function* (spec, { guard, limits, network: entry }) {
      const etc = yield* hostSettings.current
      const open: OpenSandbox = {
        root: insideRoot,
        temporary: "/tmp",
        spawn: Effect.fnUntraced(function* (command) {
          const network = command.network ? yield* entry : undefined
          const placements = placementsOf({
            systemFolders: found.systemFolders,
            etc,
            resolvConf: network?.resolvConf,
            limits,
            root: spec.root,
            optional: { readOnly: settings.extraReadOnly, writable: settings.extraWritable },
            readOnly: [...spec.readOnly, ...(command.readOnly ?? [])]
          })
          return yield* spawnProcess(spawner, {
            commandLine: commandLine(placements, command, network, limits),
            cwd: undefined,
            // Start bubblewrap itself with exactly the run's environment, because process 1 shows its environment in /proc.
            // Arguments are not an alternative: they are world-readable.
            environment: command.environment,
            role: { kind: "namespace", fd: fds.information },
            inputs: filterInputs(filter),
            noted: notedIn(spec.processNote),
            killStragglers: Effect.void,
            guard,
            isInstallation: command.isInstallation
          })
        })
      }
      return open
    })
  }
}

/** Uses bubblewrap to create namespaces for each program. */
export const bubblewrapRung = (host: LevelHost, hostSettings: Effect.Effect<HostSettings>): Rung => ({
  level: "bubblewrap",
  attempt: Effect.gen(function* (): Effect.fn.Return<Verdict> {
    const program = yield* findProgram(host.settings.bubblewrap)
    if (program === undefined) {
      return { _tag: "unavailable", reason: "bubblewrap was not found.", remedy: remedyFor(undefined) }
    }
    // A private network contains no other hosts, so the filter need not deny Internet sockets.
    const filter = Option.getOrUndefined(ownFilter({ network: true, sharedProcessIds: false }))
    const known = yield* KnownVariants
    let said = ""
    for (const variant of variants) {
      const words = probeArguments(variant, filter)
      const refusal = yield* known.refusalOf([program, ...words].join(" "), probe(host.spawner, program, words, filter))
      if (refusal !== undefined) {
        said = refusal
        continue
      }
      const [systemFolders, prlimit] = yield* Effect.all([describeSystem, findProgram(host.settings.prlimit)], {
        concurrency: "unbounded"
      })
      return {
        _tag: "works",
        level: levelOf(host, { program, variant, systemFolders, prlimit }, filter, yield* hostSettings),
        reason: "bubblewrap separates files, processes and network of every run."
      }
    }
    return {
      _tag: "unavailable",
      reason: `bubblewrap is installed and does not work here (${said}).`,
      remedy: remedyFor(said)
    }
  })
})
