// Entry point of the compiled agent binary, which also runs the agent's sandboxes and its guard.
import { Effect, Layer } from "effect"
import { GuardCommand } from "../runner/agent/guard/GuardCommand.ts"
import { ConfinementCommand } from "../runner/sandbox/confinement/ConfinementCommand.ts"
import { confineArgument, guardArgument } from "./BinaryArguments.ts"
import { commandFirst } from "./cli/ClientCommandNames.ts"
import { agentSvc } from "./cli/agent/AgentRoot.ts"
import { commandLine } from "./cli/CommandLine.ts"
import { runMain } from "./cli/RunMain.ts"
import { platform } from "./composition/Platform.ts"
import { longRunning } from "./LongRunningProcess.ts"
import { ownProgram } from "./OwnProgram.ts"

const args = commandFirst(process.argv.slice(2))
const binary = Layer.mergeAll(
  Layer.succeed(ConfinementCommand, { program: ownProgram(), args: [confineArgument] }),
  Layer.succeed(GuardCommand, { program: ownProgram(), args: [guardArgument] })
)

runMain(args, longRunning(commandLine(agentSvc)(args)).pipe(Effect.provide(Layer.merge(platform, binary))))
