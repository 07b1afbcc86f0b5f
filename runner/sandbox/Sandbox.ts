import { lchown, mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Context, Effect, Layer, Queue, type Scope } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { keepHostSettings, type SandboxEtc } from "./HostSettings.ts"
import {
  bubblewrapCommandLine,
  insideRoot,
  processCommandLine,
  systemPath,
  userCommandLine,
  userKillCommandLine
} from "./SandboxCommandLine.ts"
import { isPassable, probeMachine, type Rung } from "./SandboxProbe.ts"
import { infoFd, type ProcessEnvironment, type SandboxProcess, spawnProcess } from "./SandboxProcess.ts"
import { SandboxSettings } from "./SandboxSettings.ts"
import { SandboxRefused, type SandboxSpawnFailed, type SandboxStatus } from "./SandboxStatus.ts"

/**
 * What one run may see.
 *
 * - `root`: absolute folder that the run owns; the only place it can write, besides a private /tmp
 * - `readOnly`: absolute paths it may read (tool, provider mirror), at the same path inside
 */
export interface SandboxSpec {
  readonly root: string
  readonly readOnly: ReadonlyArray<string>
}

/**
 * One program.
 *
 * - `argv`: program and arguments, no shell
 * - `cwd`: folder relative to the root
 * - `environment`: all of it; nothing is inherited
 * - `network`: only bubblewrap can withhold it; see `Sandbox.status`
 * - `writable`: absolute paths that only this program may write
 */
export interface SandboxedCommand {
  readonly argv: readonly [string, ...ReadonlyArray<string>]
  readonly cwd: string
  readonly environment: ProcessEnvironment
  readonly network: boolean
  readonly writable?: ReadonlyArray<string>
}

export interface OpenSandbox {
  /** The path of `SandboxSpec.root` as the programs see it. */
  readonly root: string
  readonly spawn: (command: SandboxedCommand) => Effect.Effect<SandboxProcess, SandboxSpawnFailed, Scope.Scope>
}

const temporaryFolder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "svc-sandbox-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
)

const give = (folder: string, userId: number): Effect.Effect<void> =>
  Effect.promise(async () => {
    await lchown(folder, userId, userId)
    for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
      await lchown(join(entry.parentPath, entry.name), userId, userId)
    }
  })

/**
 * Runs programs of a module apart from the rest of this machine, at the level that the start-up probe found.
 *
 * `open` fails with `SandboxRefused` when the operator requires a higher level, or when the run folder cannot be reached at the
 * `user` level. Everything in `root` must be written before `open`.
 */
export class Sandbox extends Context.Service<
  Sandbox,
  {
    readonly status: SandboxStatus
    /** The path that the programs will see for a root; known before it is opened. */
    readonly insideRoot: (root: string) => string
    readonly open: (spec: SandboxSpec) => Effect.Effect<OpenSandbox, SandboxRefused, Scope.Scope>
  }
>()("svc/sandbox/Sandbox") {
  static readonly layer = Layer.effect(
    Sandbox,
    Effect.gen(function* () {
      const settings = yield* SandboxSettings
      const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
      const { status, rung, prlimit, limits } = yield* probeMachine(spawner, settings)
      const userIds = yield* Queue.unbounded<number>()
      yield* Queue.offerAll(
        userIds,
        Array.from({ length: settings.userIds.count }, (_, index) => settings.userIds.first + index)
      )

      const hostSettings =
        rung.level === "bubblewrap"
          ? yield* keepHostSettings(join(settings.ownFolder ?? (yield* temporaryFolder), "etc"))
          : undefined

      const openNamespaced = (
        spec: SandboxSpec,
        found: Extract<Rung, { level: "bubblewrap" }>,
        etc: SandboxEtc | undefined
      ): OpenSandbox => ({
        root: insideRoot,
        spawn: (command) =>
          spawnProcess(spawner, {
            commandLine: bubblewrapCommandLine({
              bubblewrap: found.program,
              namespaces: found.namespaces,
              systemFolders: found.systemFolders,
              etc,
              prlimit,
              limits,
              root: spec.root,
              optional: { readOnly: settings.extraReadOnly, writable: settings.extraWritable },
              readOnly: spec.readOnly,
              writable: command.writable ?? [],
              network: command.network,
              cwd: join(insideRoot, command.cwd),
              argv: command.argv,
              infoFd
            }),
            cwd: undefined,
            environment: command.environment,
            namespaced: true,
            killStragglers: Effect.void
          })
      })

      const openAsUser = Effect.fnUntraced(function* (spec: SandboxSpec, program: string) {
        if (!(yield* isPassable(join(spec.root, "..")))) {
          return yield* new SandboxRefused({
            level: status.level,
            message: `An unprivileged user cannot pass the folders above ${spec.root}. Give them mode 711 or install bubblewrap.`
          })
        }
        const userId = yield* Effect.acquireRelease(Queue.take(userIds), (id) => Queue.offer(userIds, id))
        yield* give(spec.root, userId)
        const killAll = userKillCommandLine(program, userId)
        const killStragglers = spawner
          .exitCode(
            ChildProcess.make(killAll.program, killAll.args, {
              env: { PATH: systemPath },
              stdin: "ignore",
              stdout: "ignore",
              stderr: "ignore"
            })
          )
          .pipe(Effect.ignore)
        const open: OpenSandbox = {
          root: spec.root,
          spawn: (command) =>
            spawnProcess(spawner, {
              commandLine: userCommandLine({ setpriv: program, userId, prlimit, limits, argv: command.argv }),
              cwd: join(spec.root, command.cwd),
              environment: command.environment,
              namespaced: false,
              killStragglers
            })
        }
        return open
      })

      const openAsProcess = (spec: SandboxSpec): OpenSandbox => ({
        root: spec.root,
        spawn: (command) =>
          spawnProcess(spawner, {
            commandLine: processCommandLine({ prlimit, limits, argv: command.argv }),
            cwd: join(spec.root, command.cwd),
            environment: command.environment,
            namespaced: false,
            killStragglers: Effect.void
          })
      })

      const open = Effect.fn("Sandbox.open")(function* (spec: SandboxSpec) {
        if (!status.accepted) {
          return yield* new SandboxRefused({
            level: status.level,
            message: `Runs are refused because isolation is required. ${status.reason} ${status.remedy ?? ""}`.trim()
          })
        }
        switch (rung.level) {
          case "bubblewrap":
            return openNamespaced(spec, rung, yield* hostSettings?.current ?? Effect.undefined)
          case "user":
            return yield* openAsUser(spec, rung.setpriv)
          case "process":
            return openAsProcess(spec)
        }
      })

      return Sandbox.of({
        status,
        insideRoot: (root) => (rung.level === "bubblewrap" ? insideRoot : root),
        open
      })
    })
  )
}
