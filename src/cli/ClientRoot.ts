import { Command } from "effect/cli"
import { adoptCommand } from "./adopt/AdoptCommand.ts"
import { contextCommand } from "./context/ContextCommands.ts"
import { installCommand } from "./install/InstallCommand.ts"
import { loginCommand, logoutCommand, tokenCommand } from "./login/LoginCommands.ts"
import { apiCommand } from "./remote/ApiCommand.ts"
import { capsuleCommand } from "./remote/CapsuleCommands.ts"
import { applyCommand, approveCommand } from "./remote/DecisionCommands.ts"
import { destroyCommand, driftCommand, planCommand, rollbackCommand } from "./remote/PlanCommands.ts"
import { logsCommand, runCommand } from "./remote/RunCommands.ts"
import { sourceCommand } from "./remote/SourceCommands.ts"
import { whoamiCommand, workspaceCommand } from "./remote/WorkspaceCommands.ts"

/** Who one is, and where. */
export const signInCommands = [
  loginCommand,
  logoutCommand,
  whoamiCommand,
  contextCommand,
  workspaceCommand,
  tokenCommand
] as const

/** What people and scripts do with a server. */
export const dailyCommands = [
  installCommand,
  planCommand,
  approveCommand,
  applyCommand,
  runCommand,
  logsCommand,
  capsuleCommand,
  sourceCommand,
  driftCommand,
  rollbackCommand,
  destroyCommand,
  adoptCommand,
  apiCommand
] as const

/** The commands that are clients of a server, without the rest. */
export const clientSvc = Command.make("svc").pipe(Command.withSubcommands([...signInCommands, ...dailyCommands]))
