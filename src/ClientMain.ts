// Entry point of client commands. See `cli/ClientCommandNames.ts`.
import { Effect } from "effect"
import { commandFirst } from "./cli/ClientCommandNames.ts"
import { clientSvc } from "./cli/ClientRoot.ts"
import { commandLine } from "./cli/CommandLine.ts"
import { runMain } from "./cli/RunMain.ts"
import { plainPlatform } from "./composition/PlainPlatform.ts"

const args = commandFirst(process.argv.slice(2))

runMain(args, commandLine(clientSvc)(args).pipe(Effect.provide(plainPlatform)))
