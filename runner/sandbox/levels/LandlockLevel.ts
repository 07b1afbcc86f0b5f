import { join } from "node:path"
import { Effect, Option, Stream } from "effect"
import { ChildProcess } from "effect/process"
import { confinementRoles, plainDevices } from "../confinement/ConfinementSpec.ts"
import type { Rung, Verdict } from "../SandboxLadder.ts"
import { readablePaths } from "../SandboxView.ts"
import { ownFilter } from "../seccomp/SeccompProgram.ts"
import { deviationsOf } from "./ConfinementProbe.ts"
import { outside, spawnSupervised, temporaryFolderFor } from "./Confined.ts"
import type { Level, LevelHost, OpenSandbox, SandboxedCommand, SandboxSpec } from "./Level.ts"
import { constants, type Dirent } from "node:fs"
import { access, readdir, readFile, stat } from "node:fs/promises"

/**
 * Sockets that control the entire machine. A container may contain such sockets even if they were created outside the
 * container's network namespace.
 */
const wellKnown = [
  "/run/docker.sock",
  "/run/podman/podman.sock",
  "/run/containerd/containerd.sock",
  "/run/crio/crio.sock",
  "/run/dbus/system_bus_socket"
]

const readText = (file: string) => Effect.tryPromise(() => readFile(file, "utf8")).pipe(Effect.orElseSucceed(() => ""))

/**
 * Lists the paths of the sockets in this network namespace. Skips sockets without a path, whose name is empty or begins with `@`.
 */
const listed = Effect.map(readText("/proc/net/unix"), (table) =>
  table.split("\n").flatMap((line) => {
    const at = line.indexOf(" /")
    return at === -1 ? [] : [line.slice(at + 1)]
  })
)

const isSocket = (entry: Dirent) => entry.isSocket()

const ofUser = (folder: string) =>
  Effect.tryPromise(() => readdir(folder, { withFileTypes: true, recursive: true })).pipe(
    Effect.map((entries) => entries.filter(isSocket).map((entry) => join(entry.parentPath, entry.name))),
    Effect.orElseSucceed(() => [])
  )

/**
 * Returns true if this user may connect to the socket, which requires write permission on the socket and permission to
 * traverse its parent folders.
 */
const isReachable = (path: string) =>
  Effect.tryPromise(async () => {
    await access(path, constants.W_OK)
    return (await stat(path)).isSocket()
  }).pipe(Effect.orElseSucceed(() => false))

/**
 * Lists the sockets with a path that this user's programs may connect to. The process that listens on such a socket may do
 * things for the module that the module itself must not do, and Landlock controls these sockets only from version 9. Omits
 * sockets in `guarded`, because connecting to them is not sufficient to use them.
 */
const reachablePathSockets = Effect.fnUntraced(function* (guarded: string | undefined) {
  const userId = process.getuid?.() ?? 0
  const agent = process.env["SSH_AUTH_SOCK"]
  const candidates = new Set([
    ...(yield* listed),
    ...wellKnown,
    ...(yield* ofUser(`/run/user/${userId}`)),
    ...(agent === undefined ? [] : [agent])
  ])
  const isGuarded = (path: string) => guarded !== undefined && path.startsWith(`${guarded}/`)
  return yield* Effect.filter(
    [...candidates].filter((path) => !isGuarded(path)),
    isReachable
  )
})

/** First version in which a domain can neither signal outside processes nor connect to their abstract sockets. */
const scopedSince = 6
/** First version in which a domain also cannot connect to outside sockets with a path. */
const pathSocketsSince = 9

/** Returns the version of the kernel's Landlock interface, or 0 if the kernel has no Landlock. */
export const kernelLandlock = (host: LevelHost) =>
  Effect.gen(function* () {
    const child = yield* host.spawner.spawn(
      ChildProcess.make(host.confinement.program, [...host.confinement.args, confinementRoles.version], {
        cwd: "/",
        env: {},
        stdin: "ignore",
        stderr: "ignore",
        killSignal: "SIGKILL"
      })
    )
    const version = Number(yield* Stream.mkString(Stream.decodeText(child.stdout)))
    return Number.isInteger(version) ? version : 0
  }).pipe(
    Effect.scoped,
    Effect.timeout("10 seconds"),
    Effect.orElseSucceed(() => 0)
  )

/** The user that programs run as; undefined if they keep the server's user. */
export interface RunUser {
  readonly userId: number
  readonly groups: ReadonlyArray<number>
}

/** Builds the Landlock domain and filter of one program. */
export const landlockOf = (
  host: LevelHost,
  request: {
    readonly spec: SandboxSpec
    readonly command: SandboxedCommand
    readonly temporary: string
    readonly user: RunUser | undefined
    readonly filters: LandlockFilters
  }
) => {
  const { command, filters, spec, temporary, user } = request
  const { extraReadOnly, extraWritable } = host.settings
  return {
    kind: "landlock",
    userId: user?.userId,
    groups: user?.groups ?? [],
    readOnly: readablePaths({
      optional: { readOnly: extraReadOnly, writable: [] },
      readOnly: [...spec.readOnly, ...(command.readOnly ?? [])]
    }),
    writable: [spec.root, temporary, ...extraWritable],
    devices: plainDevices.map((name) => `/dev/${name}`),
    network: command.network,
    seccomp: command.network ? filters.networked : filters.isolated
  } as const
}

export interface LandlockFilters {
  readonly networked: string
  readonly isolated: string
}

const encoded = (filter: Uint8Array) => Buffer.from(filter).toString("base64")

/**
 * Builds the system call filters, without which a domain is too weak. Returns `none` if the system call numbers of this machine
 * are unknown.
 */
export const landlockFilters: Option.Option<LandlockFilters> = Option.all({
  networked: Option.map(ownFilter({ network: true, sharedProcessIds: true }), encoded),
  isolated: Option.map(ownFilter({ network: false, sharedProcessIds: true }), encoded)
})

const levelOf = (host: LevelHost, filters: LandlockFilters): Level => ({
  level: "landlock",
  insideRoot: (root) => root,
  open: Effect.fnUntraced(function* (spec, { guard, limits }) {
    const temporary = yield* temporaryFolderFor(spec)
    const open: OpenSandbox = {
      root: spec.root,
      temporary,
      spawn: (command) =>
        spawnSupervised(
          host,
          {
            command,
            cwd: join(spec.root, command.cwd),
            confinement: landlockOf(host, { spec, command, temporary, user: undefined, filters }),
            ownProcessCount: false,
            limits
          },
          { processNote: spec.processNote, killStragglers: Effect.void, guard, elsewhere: outside(spec, temporary) }
        )
    }
    return open
  })
})

const mostNamed = 3

/** Confines programs that run as the server's own user with Landlock and a system call filter. */
export const landlockRung = (host: LevelHost): Rung => ({
  level: "landlock",
  attempt: Effect.gen(function* (): Effect.fn.Return<Verdict> {
    const missing = (what: string): Verdict => ({ _tag: "unavailable", reason: `Landlock: ${what}.` })
    if (process.platform !== "linux") return missing("only Linux has it")
    if (process.geteuid?.() === 0) return missing("root is not confined by it")
    if (Option.isNone(landlockFilters)) return missing("there is no filter of system calls for this processor")
    const version = yield* kernelLandlock(host)
    if (version < scopedSince) {
      return missing(
        `version ${scopedSince} is needed (Linux 6.12), and this kernel has ${version === 0 ? "none" : version}`
      )
    }
    if (version < pathSocketsSince) {
      const sockets = yield* reachablePathSockets(host.settings.dataFolder)
      if (sockets.length > 0) {
        const named = sockets.slice(0, mostNamed).join(", ")
        return missing(`module code could connect to ${sockets.length} sockets of this machine (${named})`)
      }
    }
    const level = levelOf(host, landlockFilters.value)
    const deviations = yield* deviationsOf(host, level, { sharedProcessIds: true })
    return deviations === undefined
      ? {
          _tag: "works",
          level,
          reason:
            "Landlock and a filter of system calls keep module code from files and processes of the service, whose user it shares."
        }
      : missing(deviations)
  })
})
