import { Command } from "effect/cli"
import { adoptCommand } from "./adopt/AdoptCommand.ts"
import { contextCommand } from "./context/ContextCommands.ts"
import { candidatesCommand, completionCommand } from "./completion/CompletionCommand.ts"
import { installCommand } from "./install/InstallCommand.ts"
import { connectionCommand } from "./connection/ConnectionCommands.ts"
import { loginCommand, logoutCommand } from "./login/LoginCommands.ts"
import { tokenCommand } from "./login/TokenCommands.ts"
import { shareCommand } from "./connection/ShareCommands.ts"
import { noticeCommand } from "./member/NoticeCommands.ts"
import { ruleCommand } from "./member/RuleCommands.ts"
import { teamCommand } from "./member/TeamCommands.ts"
import { activityCommand } from "./remote/ActivityCommand.ts"
import { inviteCommand } from "./member/InviteCommands.ts"
import { memberCommand } from "./member/MemberCommands.ts"
import { apiCommand } from "./remote/ApiCommand.ts"
import { exportCommand } from "./remote/CapsuleExportCommand.ts"
import { openCommand } from "./remote/OpenCommand.ts"
import { capsuleCommand } from "./remote/CapsuleCommands.ts"
import { applyCommand, approveCommand } from "./remote/DecisionCommands.ts"
import { destroyCommand, driftCommand, planCommand, rollbackCommand } from "./remote/PlanCommands.ts"
import { poolCommand } from "./remote/PoolCommands.ts"
import { pullRequestCommand } from "./remote/PullRequestCommands.ts"
import { logsCommand, runCommand } from "./remote/RunCommands.ts"
import { sourceCommand } from "./remote/SourceCommands.ts"
import { whoamiCommand, workspaceCommand } from "./remote/WorkspaceCommands.ts"

/** Commands for the caller's login, server and Workspace. */
const signInCommands = [
  loginCommand,
  logoutCommand,
  whoamiCommand,
  contextCommand,
  workspaceCommand,
  tokenCommand
] as const

/** Everyday commands for people and scripts. */
const dailyCommands = [
  installCommand,
  planCommand,
  approveCommand,
  applyCommand,
  runCommand,
  logsCommand,
  capsuleCommand,
  sourceCommand,
  pullRequestCommand,
  poolCommand,
  driftCommand,
  rollbackCommand,
  destroyCommand,
  adoptCommand,
  exportCommand,
  openCommand,
  apiCommand,
  completionCommand,
  candidatesCommand
] as const

/** Commands that manage a Workspace's people and credentials, and show its audit history. */
const teamCommands = [
  connectionCommand,
  shareCommand,
  memberCommand,
  inviteCommand,
  teamCommand,
  ruleCommand,
  noticeCommand,
  activityCommand
] as const

/** The client commands in groups. */
export const clientGroups = [
  { group: "Sign-in", commands: signInCommands },
  { group: "Daily work", commands: dailyCommands },
  { group: "Team", commands: teamCommands }
] as const

/** The command line with the client commands only. */
export const clientSvc = Command.make("svc").pipe(
  Command.withDescription("A client of svc servers; the server itself, and its commands, are in the svc binary"),
  Command.withSubcommands(clientGroups)
)
