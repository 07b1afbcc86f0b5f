// Entry point of an agent. See `cli/ClientCommandNames.ts`.
import { Effect } from "effect"
import { commandFirst } from "./cli/ClientCommandNames.ts"
import { agentSvc } from "./cli/agent/AgentRoot.ts"
import { commandLine } from "./cli/CommandLine.ts"
import { runMain } from "./cli/RunMain.ts"
import { platform } from "./composition/Platform.ts"

const args = commandFirst(process.argv.slice(2))

runMain(args, commandLine(agentSvc)(args).pipe(Effect.provide(platform)))
