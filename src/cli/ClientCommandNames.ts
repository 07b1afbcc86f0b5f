/**
 * The commands for people and scripts, with their aliases: clients of a server. They load no part of the service, since loading
 * takes most of the time of a short command.
 */
export const clientCommandNames: ReadonlySet<string> = new Set([
  "login",
  "logout",
  "whoami",
  "context",
  "workspace",
  "ws",
  "token",
  "install",
  "plan",
  "approve",
  "apply",
  "run",
  "logs",
  "capsule",
  "source",
  "pool",
  "drift",
  "rollback",
  "destroy",
  "adopt",
  "export",
  "connection",
  "share",
  "member",
  "invite",
  "team",
  "rule",
  "activity",
  "open",
  "api"
])

/** Returns true if a command line belongs to an agent: it loads the code that executes Runs, and no part of the service. */
export const isAgentCommand = ([name]: ReadonlyArray<string>): boolean => name === "agent"

/** Returns true if a command line belongs to a client. */
export const isClientCommand = ([name]: ReadonlyArray<string>): boolean =>
  name !== undefined && clientCommandNames.has(name)
