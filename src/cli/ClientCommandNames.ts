/**
 * The commands for people and scripts, with their aliases. They are clients of a server and load none of its code, because
 * loading that code would take most of the time of a short command.
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
  "pr",
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
  "notice",
  "activity",
  "open",
  "api",
  "completion"
])

/** The hidden command that completion scripts call: `svc __complete -- WORDS`. */
export const candidatesCommandName = "__complete"

const leadingFlags: ReadonlyMap<string, number> = new Map([
  ["--json", 1],
  ["--quiet", 1],
  ["-q", 1],
  ["--server", 2],
  ["--context", 2],
  ["--workspace", 2],
  ["--format", 2],
  ["-o", 2]
])

/**
 * Moves the command's name to the front of the command line, because common flags may precede it. Turns `svc help plan` into
 * `svc plan --help`.
 */
export const commandFirst = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  let taken = 0
  while (taken < args.length) {
    const [name = "", value] = (args[taken] ?? "").split("=", 2)
    const width = leadingFlags.get(name)
    if (width === undefined) break
    taken += value === undefined ? width : 1
  }
  const [command, ...rest] = args.slice(taken)
  if (command === undefined) return args
  if (command === "help") return [...rest.filter((word) => !word.startsWith("-")), "--help"]
  if (taken === 0 || command.startsWith("-")) return args
  const end = rest.indexOf("--")
  const flags = args.slice(0, taken)
  return end === -1 ? [command, ...rest, ...flags] : [command, ...rest.slice(0, end), ...flags, ...rest.slice(end)]
}

/**
 * Returns true if the command line is for an agent. An agent command loads the code that executes Runs, and none of the server's
 * code.
 */
export const isAgentCommand = ([name]: ReadonlyArray<string>): boolean => name === "agent"

/** Returns true if the command line is for a client. */
export const isClientCommand = ([name, ...rest]: ReadonlyArray<string>): boolean => {
  // While the first word is still being typed, it does not identify a command, because it may become any command.
  if (name === candidatesCommandName) return rest.length > 2 && isClientCommand(rest.slice(1))
  return name !== undefined && clientCommandNames.has(name)
}
