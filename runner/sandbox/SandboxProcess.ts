import { Deferred, Effect, type Redacted, Schema, type Scope, Stream } from "effect"
import type { PlatformError } from "effect/PlatformError"
import { ChildProcess, type ChildProcessSpawner } from "effect/process"
import type { CommandLine } from "./SandboxCommandLine.ts"
import { SandboxSpawnFailed } from "./SandboxStatus.ts"

export type ProcessEnvironment = Readonly<Record<string, string | Redacted.Redacted<string>>>

/** How a process ended. `signalled` covers every end without an exit code of its own. */
export type ProcessEnd = { readonly _tag: "exited"; readonly code: number } | { readonly _tag: "signalled" }

/** A running program of a sandbox. It is killed with everything it started when its Scope closes. */
export interface SandboxProcess {
  readonly stdout: Stream.Stream<Uint8Array, PlatformError>
  readonly stderr: Stream.Stream<Uint8Array, PlatformError>
  /** Waits for the end. */
  readonly end: Effect.Effect<ProcessEnd>
  /** One SIGINT to the program itself, not to what it started. Nothing happens when it has ended. */
  readonly interrupt: Effect.Effect<void>
  /** SIGKILL to the whole tree; returns when it is gone. */
  readonly kill: Effect.Effect<void>
}

const SandboxInfo = Schema.fromJsonString(Schema.Struct({ "child-pid": Schema.Int }))

/** The file descriptor on which bubblewrap tells the id of the process it started. */
export const infoFd = 3

const signal = (target: number, name: "SIGINT" | "SIGKILL"): Effect.Effect<void> =>
  // The process may be gone already, which is what a signal wants in the end.
  Effect.try(() => process.kill(target, name)).pipe(Effect.ignore)

/** bubblewrap and shells report the death of their child by a signal as 128 + its number. */
const signalCodes = { first: 129, last: 192 }

export interface SpawnRequest {
  readonly commandLine: CommandLine
  /** Host folder to start in; undefined when the command line itself chooses. */
  readonly cwd: string | undefined
  readonly environment: ProcessEnvironment
  readonly namespaced: boolean
  /** Ends what may have left the process group. */
  readonly killStragglers: Effect.Effect<void>
}

/** Starts a program with exactly the given environment, in a process group of its own. */
export const spawnProcess = Effect.fnUntraced(function* (
  spawner: ChildProcessSpawner.ChildProcessSpawner["Service"],
  request: SpawnRequest
): Effect.fn.Return<SandboxProcess, SandboxSpawnFailed, Scope.Scope> {
  const { program, args } = request.commandLine
  const handle = yield* spawner
    .spawn(
      ChildProcess.make(program, args, {
        env: request.environment,
        stdin: "ignore",
        detached: true,
        killSignal: "SIGKILL",
        ...(request.cwd === undefined ? {} : { cwd: request.cwd }),
        ...(request.namespaced ? { additionalFds: { [`fd${infoFd}`]: { type: "output" as const } } } : {})
      })
    )
    .pipe(
      Effect.mapError(
        (error) => new SandboxSpawnFailed({ program, message: `${program} could not be started: ${error.reason._tag}` })
      )
    )

  const target = yield* Deferred.make<number>()
  if (request.namespaced) {
    yield* handle.getOutputFd(infoFd).pipe(
      Stream.decodeText(),
      Stream.mkString,
      Effect.flatMap(Schema.decodeUnknownEffect(SandboxInfo)),
      Effect.flatMap((info) => Deferred.succeed(target, info["child-pid"])),
      // bubblewrap failed before it started anything: there is nobody else to signal.
      Effect.catch(() => Deferred.succeed(target, handle.pid)),
      Effect.forkScoped
    )
  } else {
    yield* Deferred.succeed(target, handle.pid)
  }

  const end = handle.exitCode.pipe(
    Effect.map(
      (code): ProcessEnd =>
        request.namespaced && code >= signalCodes.first && code <= signalCodes.last
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

  // The first process of the namespace goes first: the kernel then ends all others before bubblewrap can report the end.
  const killFirstInside = request.namespaced
    ? Deferred.await(target).pipe(
        Effect.timeoutOption("1 second"),
        Effect.flatMap((pid) => (pid._tag === "Some" ? signal(pid.value, "SIGKILL") : Effect.void)),
        Effect.andThen(Effect.timeoutOption(end, "2 seconds"))
      )
    : Effect.void
  const kill = whileRunning(Effect.andThen(killFirstInside, Effect.void)).pipe(
    // Members of the group may outlive the program.
    Effect.andThen(signal(-handle.pid, "SIGKILL")),
    Effect.andThen(request.killStragglers),
    Effect.andThen(end),
    Effect.asVoid
  )
  yield* Effect.addFinalizer(() => kill)

  return { stdout: handle.stdout, stderr: handle.stderr, end, interrupt, kill }
})
