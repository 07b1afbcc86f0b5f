import { Effect, Layer } from "effect"
import { SyncProcessCommand } from "../runner/snapshot/SyncProcessCommand.ts"
import { ConfinementCommand } from "../runner/sandbox/confinement/ConfinementCommand.ts"
import { confineArgument, syncArgument } from "./BinaryArguments.ts"
import { SvcCommand } from "./backup/SvcCommand.ts"
import { commandFirst } from "./cli/ClientCommandNames.ts"
import { run } from "./cli/Run.ts"
import { runMain } from "./cli/RunMain.ts"
import { platform } from "./composition/Platform.ts"
import { EmbeddedDashboard, type EmbeddedFile } from "./dashboard/EmbeddedFiles.ts"
import { longRunning } from "./LongRunningProcess.ts"
import { ownProgram } from "./OwnProgram.ts"
import { BuiltDocs } from "./http/DocsFiles.ts"
import { EmbeddedLicenses } from "./licenses/Licenses.ts"

/**
 * Command line of a compiled binary. The binary embeds the dashboard, the documentation and the licences, and is also used to
 * run syncs and sandboxes.
 */
export const main = (dashboard: ReadonlyArray<EmbeddedFile>, licenses: string, docs: string): void => {
  const args = commandFirst(process.argv.slice(2))
  const binary = Layer.mergeAll(
    Layer.succeed(EmbeddedDashboard, dashboard),
    Layer.succeed(EmbeddedLicenses, licenses),
    Layer.succeed(BuiltDocs, { kind: "archive", file: docs }),
    Layer.succeed(SvcCommand, { program: ownProgram(), args: [] }),
    Layer.succeed(SyncProcessCommand, { program: ownProgram(), args: [syncArgument] }),
    Layer.succeed(ConfinementCommand, { program: ownProgram(), args: [confineArgument] })
  )
  runMain(args, longRunning(run(args)).pipe(Effect.provide(Layer.merge(platform, binary))))
}
