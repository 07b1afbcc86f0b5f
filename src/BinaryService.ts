import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Layer } from "effect"
import { SyncProcessCommand } from "../runner/snapshot/SyncProcessCommand.ts"
import { ConfinementCommand } from "../runner/sandbox/confinement/ConfinementCommand.ts"
import { confineArgument, syncArgument } from "./BinaryArguments.ts"
import { SvcCommand } from "./backup/SvcCommand.ts"
import { run, teardown } from "./cli/Run.ts"
import { platform } from "./composition/Platform.ts"
import { EmbeddedDashboard, type EmbeddedFile } from "./dashboard/EmbeddedFiles.ts"
import { EmbeddedLicenses } from "./licenses/Licenses.ts"

/** Binaries start with lazy compilation, see `scripts/build.ts`: once most of them have started, hot code is compiled. */
const compiling = Effect.sync(() => Bun.unsafe.setJITPolicy(1)).pipe(Effect.delay("250 millis"))

/** Garbage from the start, mostly loaded code, is collected once: an idle service would have no reason to. */
const settled = Effect.sync(() => Bun.gc(true)).pipe(Effect.delay("2 seconds"))

/** The command line of a compiled binary, which embeds dashboard and licences and also runs its syncs and sandboxes. */
export const main = (dashboard: ReadonlyArray<EmbeddedFile>, licenses: string): void => {
  const args = process.argv.slice(2)
  const binary = Layer.mergeAll(
    Layer.succeed(EmbeddedDashboard, dashboard),
    Layer.succeed(EmbeddedLicenses, licenses),
    Layer.succeed(SvcCommand, { program: process.execPath, args: [] }),
    Layer.succeed(SyncProcessCommand, { program: process.execPath, args: [syncArgument] }),
    Layer.succeed(ConfinementCommand, { program: process.execPath, args: [confineArgument] })
  )
  const program = Effect.forkChild(compiling).pipe(Effect.andThen(Effect.forkChild(settled)), Effect.andThen(run(args)))
  NodeRuntime.runMain(program.pipe(Effect.provide(Layer.merge(platform, binary))), {
    disableErrorReporting: true,
    teardown: teardown(args)
  })
}
