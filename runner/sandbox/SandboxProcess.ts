import { Deferred, Effect, type Redacted, Ref, Schema, type Scope, Stream } from "effect"
import type { PlatformError } from "effect/PlatformError"
import { ChildProcess, type ChildProcessSpawner } from "effect/process"
import type { CommandLine } from "./CommandLine.ts"
import type { LimitExceeded } from "./limits/LimitExceeded.ts"
import type { RunGuard } from "./limits/RunLimits.ts"
import { SandboxSpawnFailed } from "./SandboxStatus.ts"

export type ProcessEnvironment = Readonly<Record<string, string | Redacted.Redacted<string>>>

/** How a process exited. `signalled` covers every exit without an exit code. */
export type ProcessEnd = { readonly _tag: "exited"; readonly code: number } | { readonly _tag: "signalled" }

/** A program that runs in a sandbox. When its scope closes, svc kills the program and all processes that it started. */
export interface SandboxProcess {
  readonly stdout: Stream.Stream<Uint8Array, PlatformError>
  readonly stderr: Stream.Stream<Uint8Array, PlatformError>
  /** Waits for the process to exit. */
  readonly end: Effect.Effect<ProcessEnd>
  /** Sends one SIGINT to the program, not to its children. Does nothing if it has exited. */
  readonly interrupt: Effect.Effect<void>
  /** Sends SIGKILL to the entire process tree. Returns when all processes in the tree have exited. */
  readonly kill: Effect.Effect<void>
  /** The limit that the Run exceeded, if any. Read it after the program has exited. */
  readonly exceeded: Effect.Effect<LimitExceeded | undefined>
}

const ProcessInformation = Schema.fromJsonString(Schema.Struct({ "child-pid": Schema.Int }))

const signal = (target: number, name: "SIGINT" | "SIGKILL" | "SIGTERM"): Effect.Effect<void> =>
  // Ignore errors, because the process may already have exited.
  Effect.try(() => process.kill(target, name)).pipe(Effect.ignore)

/** Launchers exit with 128 plus the signal's number if a signal killed the program. */
const signalCodes = { first: 129, last: 192 }

/**
 * The relation between the started process and the program.
 * - `namespace`: the started process waits for the first process of a process namespace and reports the id of that process
 *   on `fd`; when that process exits, the kernel kills all other processes in the namespace
 * - `supervisor`: the command line `before` starts the supervisor, which starts the program, passes on SIGINT, and on
 *   SIGTERM kills everything that the program started and exits
 * - `program`: the started process is the program itself; svc cannot track processes that leave its process group
 */
export type ProcessRole =
  | { readonly kind: "namespace"; readonly fd: number }
  | { readonly kind: "supervisor"; readonly before: CommandLine }
  | { readonly kind: "program" }

export interface SpawnRequest {
  readonly commandLine: CommandLine
  /** Host folder in which the process starts; undefined if the command line sets it. */
  readonly cwd: string | undefined
  readonly environment: ProcessEnvironment
  readonly role: ProcessRole
  /** Input for the process's additional file descriptors. */
  readonly inputs: ReadonlyArray<readonly [fd: number, stream: Stream.Stream<Uint8Array>]>
  /** Called with the id of the process immediately after the process has started. */
  readonly noted: (pid: number) => Effect.Effect<void>
  /** Kills processes that may have left the process group. */
  readonly killStragglers: Effect.Effect<void>
  /** Enforces the limits of the Run. */
  readonly guard: RunGuard
  /** Folders outside the Run's root that the program may fill. */
  readonly elsewhere?: ReadonlyArray<string>
  /** See `SandboxedCommand.isInstallation`. */
  readonly isInstallation: boolean | undefined
}

const patience = { firstInside: "1 second", namespace: "2 seconds", supervisor: "10 seconds" } as const

const after = (before: CommandLine, { args, program }: CommandLine): CommandLine => ({
  program: before.program,
  args: [...before.args, program, ...args]
})

/** Starts a program with exactly the given environment, in its own process group. */
export const spawnProcess = Effect.fnUntraced(function* (
  spawner: ChildProcessSpawner.ChildProcessSpawner["Service"],
  request: SpawnRequest
): Effect.fn.Return<SandboxProcess, SandboxSpawnFailed, Scope.Scope> {
  const { program } = request.commandLine
  const { role } = request
  const limited = request.guard.around(request.commandLine)
  // Do not limit the supervisor: at the process limit, its runtime would abort and leave orphaned processes.
  const launched = role.kind === "supervisor" ? after(role.before, limited) : limited
  const inputs = request.inputs.map(([fd, stream]) => [`fd${fd}`, { type: "input" as const, stream }] as const)
  const outputs = role.kind === "namespace" ? [[`fd${role.fd}`, { type: "output" as const }] as const] : []
  const handle = yield* spawner
    .spawn(
      ChildProcess.make(launched.program, launched.args, {
        env: request.environment,
        stdin: "ignore",
        detached: true,
        killSignal: "SIGKILL",
        ...(request.cwd === undefined ? {} : { cwd: request.cwd }),
        additionalFds: Object.fromEntries([...inputs, ...outputs])
      })
    )
    .pipe(
      Effect.mapError(
        (error) => new SandboxSpawnFailed({ program, message: `${program} could not be started: ${error.reason._tag}` })
      )
    )
  yield* request.noted(handle.pid)

  const target = yield* Deferred.make<number>()
  if (role.kind === "namespace") {
    yield* handle.getOutputFd(role.fd).pipe(
      Stream.decodeText(),
      Stream.scan(
        () => "",
        (text, more) => text + more
      ),
      // Detect the end of the JSON document by its closing brace, because the waiting process keeps the pipe open.
      Stream.filter((text) => text.trimEnd().endsWith("}")),
      Stream.runHead,
      Effect.flatMap(Effect.fromOption),
      Effect.flatMap(Schema.decodeUnknownEffect(ProcessInformation)),
      Effect.flatMap((information) => Deferred.succeed(target, information["child-pid"])),
      // If the command fails before it starts anything, only the launcher can be signalled.
      Effect.catch(() => Deferred.succeed(target, handle.pid)),
      Effect.forkScoped
    )
  } else {
    yield* Deferred.succeed(target, handle.pid)
  }

  const forced = yield* Ref.make(false)
  const end = handle.exitCode.pipe(
    Effect.zip(Ref.get(forced)),
    Effect.map(
      ([code, isForced]): ProcessEnd =>
        // `unshare` exits with a different failure code if its child is killed.
        isForced || (role.kind !== "program" && code >= signalCodes.first && code <= signalCodes.last)
          ? { _tag: "signalled" }
          : { _tag: "exited", code }
    ),
    Effect.orElseSucceed((): ProcessEnd => ({ _tag: "signalled" }))
  )

  const whileRunning = (effect: Effect.Effect<void>) =>
    handle.isRunning.pipe(
      Effect.flatMap((running) => (running ? effect : Effect.void)),
      Effect.ignore
    )

  const interrupt = whileRunning(Deferred.await(target).pipe(Effect.flatMap((pid) => signal(pid, "SIGINT"))))

  const killBelow: Record<ProcessRole["kind"], Effect.Effect<unknown>> = {
    // Kill the namespace's first process first. The kernel then kills all other processes in the namespace before the
    // waiting process can report the exit.
    namespace: Deferred.await(target).pipe(
      Effect.timeoutOption(patience.firstInside),
      Effect.flatMap((pid) => (pid._tag === "Some" ? signal(pid.value, "SIGKILL") : Effect.void)),
      Effect.andThen(Effect.timeoutOption(end, patience.namespace))
    ),
    supervisor: signal(handle.pid, "SIGTERM").pipe(Effect.andThen(Effect.timeoutOption(end, patience.supervisor))),
    program: Effect.void
  }
  const kill = whileRunning(Effect.andThen(Ref.set(forced, true), Effect.asVoid(killBelow[role.kind]))).pipe(
    // Also kill the process group, because its members may survive the program.
    Effect.andThen(signal(-handle.pid, "SIGKILL")),
    Effect.andThen(request.killStragglers),
    Effect.andThen(request.guard.endAll),
    Effect.andThen(end),
    Effect.asVoid
  )
  yield* Effect.addFinalizer(() => kill)
  const exceeded = yield* request.guard.watch({
    pid: handle.pid,
    isSupervisor: role.kind === "supervisor",
    elsewhere: request.elsewhere ?? [],
    isInstallation: request.isInstallation === true,
    inside: Deferred.await(target),
    interrupt,
    kill
  })

  return { stdout: handle.stdout, stderr: handle.stderr, end, interrupt, kill, exceeded }
})
