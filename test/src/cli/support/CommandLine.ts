import { Effect, FileSystem, Layer, type Scope, Stdio, Stream } from "effect"
import { TerminalCapabilities } from "effect/cli"
import { TestConsole } from "effect/testing"
import { run, teardown } from "../../../../src/cli/Run.ts"
import { platform } from "../../../../src/composition/Platform.ts"
import { it } from "../../../support/Effect.ts"

export interface Ended {
  readonly code: number
  readonly out: string
  readonly error: string
}

export const folder = Effect.flatMap(FileSystem.FileSystem, (files) =>
  files.makeTempDirectoryScoped({ prefix: "svc-command-line-" })
)

/** Runs one command line in this process: its output, and the exit code of the program. */
export const svc = Effect.fn("svc")((args: ReadonlyArray<string>, stdin = "") => {
  const stdio = Stdio.layerTest({ stdin: Stream.make(new TextEncoder().encode(stdin)) })
  // As in a script, wherever the tests are started.
  const terminal = Layer.succeed(TerminalCapabilities.TerminalCapabilities, {
    canColor: false,
    canAnimate: false,
    canPrompt: false
  })
  return Effect.gen(function* () {
    const exit = yield* Effect.exit(run(args))
    const ended: Ended = {
      code: yield* Effect.callback<number>((resume) => teardown(args)(exit, (code) => resume(Effect.succeed(code)))),
      out: (yield* TestConsole.logLines).join("\n"),
      error: (yield* TestConsole.errorLines).join("\n")
    }
    return ended
  }).pipe(Effect.provide(Layer.mergeAll(stdio, terminal, TestConsole.layer)))
})

/** A test on the platform of the shipped command line. */
export const live = (
  name: string,
  body: () => Effect.Effect<unknown, unknown, Layer.Success<typeof platform> | Scope.Scope>,
  timeout?: number
) => it.live(name, () => Effect.suspend(body).pipe(Effect.provide(platform)), timeout)
