import { Command } from "effect/cli"
import { agentCommand } from "./AgentCommand.ts"

/** The command line with the agent commands only. */
export const agentSvc = Command.make("svc").pipe(
  Command.withDescription("An agent of a svc server; the server itself, and its commands, are in the svc binary"),
  Command.withSubcommands([agentCommand])
)
