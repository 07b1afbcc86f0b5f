import {
  type Cause,
  Context,
  Deferred,
  Effect,
  Layer,
  type PlatformError,
  Queue,
  Schedule,
  Schema,
  type Scope,
  Stream
} from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { GuardCommand } from "./GuardCommand.ts"
import { type GuardLine, GuardLineText } from "./GuardProtocol.ts"

/** The guard could not be started, so no tool may be started either. */
export class GuardUnavailable extends Schema.TaggedError<GuardUnavailable>()("GuardUnavailable", {
  message: Schema.String
}) {}

const encode = Schema.encodeSync(GuardLineText)
const longestAnswer = "20 seconds"
const restart = Schedule.spaced("500 millis")

/**
 * A process that kills each tool at its deadline, even if the agent's process is dead or suspended. One guard serves all
 * Runs of an agent. If the guard exits, a new one is started and receives all deadlines.
 */
export class Guard extends Context.Service<
  Guard,
  {
    /** Sets the deadline of a folder. Returns once the guard has recorded the deadline. */
    readonly hold: (folder: string, killAtBoot: number) => Effect.Effect<void, GuardUnavailable>
    /** Moves the deadline of a folder. */
    readonly move: (folder: string, killAtBoot: number) => Effect.Effect<void>
    readonly release: (folder: string) => Effect.Effect<void>
  }
>()("svc/runner/agent/guard/Guard") {
  static readonly layer = Layer.effect(
    Guard,
    Effect.gen(function* () {
      const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
      const command = yield* GuardCommand
      const held = new Map<string, number>()
      const answers = new Map<string, Deferred.Deferred<void>>()
      let lines: Queue.Queue<GuardLine, Cause.Done> | undefined

      const say = (line: GuardLine) =>
        Effect.suspend(() => (lines === undefined ? Effect.void : Effect.asVoid(Queue.offer(lines, line))))

      /** Runs one guard process. */
      const life: Effect.Effect<void, PlatformError.PlatformError, Scope.Scope> = Effect.gen(function* () {
        const queue = yield* Queue.unbounded<GuardLine, Cause.Done>()
        const handle = yield* spawner.spawn(
          ChildProcess.make(command.program, command.args, {
            stdin: Stream.fromQueue(queue).pipe(
              Stream.map((line) => `${encode(line)}\n`),
              Stream.encodeText
            ),
            stderr: "ignore",
            detached: true,
            extendEnv: true
          })
        )
        // Close the guard's input: the guard ignores signals and exits only when its input closes.
        yield* Effect.addFinalizer(() => Effect.andThen(Queue.end(queue), Effect.ignore(handle.exitCode)))
        for (const [folder, killAtBoot] of held) yield* Queue.offer(queue, { say: "hold", folder, killAtBoot })
        lines = queue
        yield* handle.stdout.pipe(
          Stream.decodeText(),
          Stream.splitLines,
          Stream.runForEach((line) => {
            const waiting = answers.get(line)
            answers.delete(line)
            return waiting === undefined ? Effect.void : Effect.asVoid(Deferred.succeed(waiting, undefined))
          }),
          Effect.forkScoped
        )
        yield* handle.exitCode
      }).pipe(Effect.ensuring(Effect.sync(() => (lines = undefined))))

      yield* life.pipe(
        Effect.scoped,
        Effect.match({ onSuccess: () => "it exited", onFailure: ({ message }) => message }),
        Effect.flatMap((reason) =>
          Effect.logWarning(`The guard of this agent (${command.program}) ended and is started again: ${reason}`)
        ),
        Effect.repeat(restart),
        Effect.forkScoped
      )

      const hold = Effect.fnUntraced(function* (folder: string, killAtBoot: number) {
        const answer = yield* Deferred.make<void>()
        held.set(folder, killAtBoot)
        answers.set(`hold ${folder}`, answer)
        yield* say({ say: "hold", folder, killAtBoot })
        yield* Deferred.await(answer).pipe(
          Effect.timeoutOrElse({
            duration: longestAnswer,
            orElse: () =>
              Effect.sync(() => held.delete(folder)).pipe(
                Effect.andThen(new GuardUnavailable({ message: "The process that guards the leases does not answer." }))
              )
          }),
          Effect.ensuring(Effect.sync(() => answers.delete(`hold ${folder}`)))
        )
      })

      const move = (folder: string, killAtBoot: number) =>
        Effect.suspend(() => {
          if (!held.has(folder)) return Effect.void
          held.set(folder, killAtBoot)
          return say({ say: "hold", folder, killAtBoot })
        })

      const release = (folder: string) =>
        Effect.suspend(() => {
          held.delete(folder)
          return say({ say: "release", folder })
        })

      return Guard.of({ hold, move, release })
    })
  )
}
