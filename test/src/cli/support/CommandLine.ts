import { Effect, FileSystem, Layer, type Scope, Stdio, Stream } from "effect"
import { TerminalCapabilities } from "effect/cli"
import { TestConsole } from "effect/testing"
import { teardown } from "../../../../src/cli/CommandLine.ts"
import { run } from "../../../../src/cli/Run.ts"
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

/** Provides standard input that is never a terminal, as in a script, regardless of how the tests are started. */
const scripted = (stdin: string) =>
  Layer.merge(
    Stdio.layerTest({ stdin: Stream.make(new TextEncoder().encode(stdin)) }),
    Layer.succeed(TerminalCapabilities.TerminalCapabilities, { canColor: false, canAnimate: false, canPrompt: false })
  )

/** Runs a program in this process, printing to its fiber's console, and returns the exit code. */
export const codeOf = Effect.fn("codeOf")(
  (args: ReadonlyArray<string>, stdin = ""): Effect.Effect<number, never, Layer.Success<typeof platform>> =>
    Effect.flatMap(Effect.exit(run(args)), (exit) =>
      Effect.callback<number>((resume) => teardown(args)(exit, (code) => resume(Effect.succeed(code))))
    ).pipe(Effect.provide(scripted(stdin)))
)

/** Runs one command line in this process; returns its output and the program's exit code. */
export const svc = Effect.fn("svc")(function* (args: ReadonlyArray<string>, stdin = "") {
  const ended: Ended = {
    code: yield* codeOf(args, stdin),
    out: (yield* TestConsole.logLines).join("\n"),
    error: (yield* TestConsole.errorLines).join("\n")
  }
  return ended
}, Effect.provide(TestConsole.layer))

/** Defines a test on the platform of the shipped command line. */
export const live = (
  name: string,
  body: () => Effect.Effect<unknown, unknown, Layer.Success<typeof platform> | Scope.Scope>,
  timeout?: number
) => it.live(name, () => Effect.suspend(body).pipe(Effect.provide(platform)), timeout)
