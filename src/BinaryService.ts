import { NodeRuntime } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { SyncProcessCommand } from "../runner/snapshot/SyncProcessCommand.ts"
import { ConfinementCommand } from "../runner/sandbox/confinement/ConfinementCommand.ts"
import { confineArgument, syncArgument } from "./BinaryArguments.ts"
import { run, teardown } from "./cli/Run.ts"
import { platform } from "./composition/Platform.ts"
import { EmbeddedDashboard, type EmbeddedFile } from "./dashboard/EmbeddedFiles.ts"
import { EmbeddedLicenses } from "./licenses/Licenses.ts"

/** Binaries start reluctant to compile, see `scripts/build.ts`: from when most have started, what runs often is compiled. */
const compiling = Effect.sync(() => Bun.unsafe.setJITPolicy(1)).pipe(Effect.delay("250 millis"))

/** What starting leaves behind, loaded code for the most part, is given back once: an idle service has no reason to collect it. */
const settled = Effect.sync(() => Bun.gc(true)).pipe(Effect.delay("2 seconds"))

/** The command line of a compiled binary, which holds dashboard and licences and is the program of its syncs and sandboxes. */
export const main = (dashboard: ReadonlyArray<EmbeddedFile>, licenses: string): void => {
  const args = process.argv.slice(2)
  const binary = Layer.mergeAll(
    Layer.succeed(EmbeddedDashboard, dashboard),
    Layer.succeed(EmbeddedLicenses, licenses),
    Layer.succeed(SyncProcessCommand, { program: process.execPath, args: [syncArgument] }),
    Layer.succeed(ConfinementCommand, { program: process.execPath, args: [confineArgument] })
  )
  const program = Effect.forkChild(compiling).pipe(Effect.andThen(Effect.forkChild(settled)), Effect.andThen(run(args)))
  NodeRuntime.runMain(program.pipe(Effect.provide(Layer.merge(platform, binary))), {
    disableErrorReporting: true,
    teardown: teardown(args)
  })
}
