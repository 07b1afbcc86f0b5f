import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect } from "effect"
import { isServing, teardown } from "./CommandLine.ts"
import type { StopSignal } from "./ExitCodes.ts"
import { processConsole } from "./ProcessConsole.ts"

/** Runs a command line in this process, and exits with the command's code. */
export const runMain = (args: ReadonlyArray<string>, program: Effect.Effect<void, unknown>): void => {
  let signal: StopSignal = "SIGINT"
  process.once("SIGTERM", () => {
    signal = "SIGTERM"
  })
  // A server must not wait for the program that reads its log.
  const printing =
    isServing(args) && !process.stderr.isTTY ? program : Effect.provideService(program, Console.Console, processConsole)
  NodeRuntime.runMain(printing, { disableErrorReporting: true, teardown: teardown(args, () => signal) })
}
