import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Redacted, Stream } from "effect"
import {
  type Confinement,
  confinementFds,
  confinementRoles,
  type ConfinementSpec,
  supervisorFds
} from "../confinement/ConfinementSpec.ts"
import type { CommandLine } from "../CommandLine.ts"
import type { RunGuard } from "../limits/RunLimits.ts"
import type { SandboxLimits } from "../SandboxSettings.ts"
import { type NetworkEntry, within } from "../network/NetworkNamespace.ts"
import { ownUserThreads } from "../limits/ProcessTree.ts"
import { isExecutable } from "../InstalledProgram.ts"
import { type ProcessEnvironment, spawnProcess } from "../SandboxProcess.ts"
import { SandboxSpawnFailed } from "../SandboxStatus.ts"
import { notedIn } from "../ProcessNote.ts"
import { resourceLimits } from "../SandboxView.ts"
import type { LevelHost, SandboxedCommand, SandboxSpec } from "./Level.ts"

// Starts a program at a level that has no external launcher: the server starts a process, which becomes the program. The
// process is not confined at first, so the run must not be able to influence it. It starts in the root folder without an
// environment.

const plain = (environment: ProcessEnvironment): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [
      name,
      typeof value === "string" ? value : Redacted.value(value)
    ])
  )

export interface ConfinedProgram {
  readonly command: SandboxedCommand
  /** The working folder as the program sees it. */
  readonly cwd: string
  readonly confinement: Confinement
  /** Resource limits of the Run. */
  readonly limits: SandboxLimits
  /** True if the sandbox has its own user, so that the kernel counts only the sandbox's processes. */
  readonly ownProcessCount: boolean
}

/**
 * Number of processes that the kernel allows the user beyond the Run's limit. This lets the Run's guard detect the excess
 * and stop the Run before the kernel limit applies.
 */
const margin = 64

const specStream = (program: ConfinedProgram) =>
  (program.ownProcessCount ? Effect.succeed(0) : ownUserThreads).pipe(
    Effect.map(
      (others): ConfinementSpec => ({
        argv: program.command.argv,
        cwd: program.cwd,
        environment: plain(program.command.environment),
        limits: resourceLimits(program.limits, others + margin),
        confinement: program.confinement
      })
    ),
    Effect.map((spec) => Stream.make(new TextEncoder().encode(JSON.stringify(spec)))),
    Stream.unwrap
  )

const started = (host: LevelHost, role: string): CommandLine => ({
  program: host.confinement.program,
  args: [...host.confinement.args, role]
})

/** Starts a program in namespaces that `wrapper` creates. The arguments of `wrapper` come before the command. */
export const spawnInNamespaces = (
  host: LevelHost,
  wrapper: readonly [string, ...ReadonlyArray<string>],
  confined: ConfinedProgram,
  more: {
    readonly processNote: string | undefined
    readonly guard: RunGuard
    readonly network: NetworkEntry | undefined
  }
) => {
  const { args, program } = started(host, confinementRoles.become)
  return spawnProcess(host.spawner, {
    commandLine: within(more.network, [...wrapper, program, ...args]),
    cwd: "/",
    environment: {},
    role: { kind: "namespace", fd: confinementFds.information },
    inputs: [[confinementFds.spec, specStream(confined)]],
    noted: notedIn(more.processNote),
    killStragglers: Effect.void,
    guard: more.guard,
    isInstallation: confined.command.isInstallation
  })
}

/** Starts a program under a supervisor, so that the program's children do not outlive the program or this server. */
export const spawnSupervised = Effect.fnUntraced(function* (
  host: LevelHost,
  program: ConfinedProgram,
  more: {
    readonly processNote: string | undefined
    readonly killStragglers: Effect.Effect<void>
    readonly guard: RunGuard
    readonly elsewhere: ReadonlyArray<string>
  }
) {
  const [name] = program.command.argv
  if (name.includes("/") && !(yield* isExecutable(name))) {
    return yield* new SandboxSpawnFailed({ program: name, message: `${name} could not be started: there is none.` })
  }
  return yield* spawnProcess(host.spawner, {
    commandLine: started(host, confinementRoles.become),
    cwd: "/",
    environment: {},
    role: { kind: "supervisor", before: started(host, confinementRoles.supervise) },
    inputs: [
      // Stays open as long as the server needs the program.
      [supervisorFds.control, Stream.never],
      [supervisorFds.spec, specStream(program)]
    ],
    noted: notedIn(more.processNote),
    killStragglers: more.killStragglers,
    guard: more.guard,
    elsewhere: more.elsewhere,
    isInstallation: program.command.isInstallation
  })
})

/**
 * Maximum length of the path of a folder for temporary files. Plugins create sockets with names of about 20 characters in
 * this folder, and a socket path may have at most 107 bytes.
 */
const longestTemporary = 80

/** Returns the folder for temporary files if it is outside the Run's own folder. */
export const outside = ({ root }: SandboxSpec, temporary: string): ReadonlyArray<string> =>
  temporary === root || temporary.startsWith(`${root}/`) ? [] : [temporary]

/**
 * Returns a folder for temporary files: the run's own folder, or a folder with a shorter path if socket paths would be too
 * long.
 */
export const temporaryFolderFor = Effect.fnUntraced(function* (spec: SandboxSpec) {
  const own = join(spec.root, spec.temporary ?? ".")
  if (Buffer.byteLength(own) <= longestTemporary) return own
  return yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "svc-run-"))),
    (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
  )
})
