import { Effect } from "effect"
import { ConfinementCommand } from "../../../runner/sandbox/confinement/ConfinementCommand.ts"
import { SyncProcessCommand } from "../../../runner/snapshot/SyncProcessCommand.ts"
import { confineArgument, syncArgument } from "../../../src/BinaryArguments.ts"
import { crashService } from "./CrashService.ts"

// The compiled file is also the program of its child processes.
crashService((program) =>
  program.pipe(
    Effect.provideService(SyncProcessCommand, { program: process.execPath, args: [syncArgument] }),
    Effect.provideService(ConfinementCommand, { program: process.execPath, args: [confineArgument] })
  )
)
