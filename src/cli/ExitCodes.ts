import { PlatformError, Runtime, Terminal } from "effect"
import { CliError } from "effect/cli"
import { errorStatuses } from "../../schema/errors/ApiError.ts"
import { SettingsRefused } from "../settings/SettingsRefused.ts"

/** Every exit code of every command. `npm run docs:cli` generates `docs/exit-codes.md` from this table. */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  changes: 3,
  forbidden: 4,
  notFound: 5,
  conflict: 6,
  unreachable: 7,
  interrupted: 130,
  terminated: 143
} as const

type ExitName = keyof typeof exitCodes
export type ExitCode = (typeof exitCodes)[ExitName]

interface Meaning {
  readonly meaning: string
  readonly examples: string
}

export const exitMeanings: Readonly<Record<ExitName, Meaning>> = {
  done: {
    meaning: "done",
    examples: "The command did what it was asked. A server or an agent that was asked to stop has stopped."
  },
  failed: {
    meaning: "refused or failed",
    examples:
      "The server refused a value, a Run failed, a check found something, a person at the terminal said no, or standard output did not take the result."
  },
  usage: {
    meaning: "the command line, a value, a file that it names, or a setting is not valid",
    examples:
      "An unknown flag, a date that is none, a file that is missing, a name that several records have, or a question without a terminal. Nothing was sent that changes anything."
  },
  changes: {
    meaning: "there are changes to decide about, or a plan waits for approval",
    examples:
      "`svc plan` found changes, `svc drift` found a difference, `svc apply` was given a plan that nobody approved yet. With `--detailed-exitcode` this is 2, and every other failure 1, as the tool has it."
  },
  forbidden: {
    meaning: "not signed in, or forbidden",
    examples: "No login, a login or token that ended, a wrong password, a role or scope that is not enough."
  },
  notFound: {
    meaning: "not found",
    examples: "No such Capsule, Run, Output, Connection, Workspace or context, or none that you may see."
  },
  conflict: {
    meaning: "conflict: what was looked at has moved on, or its state does not allow it",
    examples:
      "Another plan than the one that was reviewed, a plan that was applied already, a Capsule with another Run."
  },
  unreachable: {
    meaning: "the server cannot be reached, or the wait took too long",
    examples: "A wrong address, a server that is down, or `--wait-timeout`. What runs on the server goes on."
  },
  interrupted: { meaning: "interrupted", examples: "Ctrl-C. What runs on the server goes on." },
  terminated: { meaning: "terminated", examples: "SIGTERM, as a pipeline sends it. What runs on the server goes on." }
}

/** Maps the HTTP status of a server's refusal to an exit code. */
export const exitCodeOfStatus = (status: number) => {
  switch (status) {
    case 401:
    case 403:
      return exitCodes.forbidden
    case 404:
      return exitCodes.notFound
    case 409:
      return exitCodes.conflict
    default:
      return exitCodes.failed
  }
}

const isErrorCode = (code: unknown): code is keyof typeof errorStatuses =>
  typeof code === "string" && Object.hasOwn(errorStatuses, code)

const propertyOf = (failure: unknown, key: PropertyKey): unknown =>
  typeof failure === "object" && failure !== null ? Reflect.get(failure, key) : undefined

/** Maps the failure that ended a command to an exit code. */
export const exitCodeOf = (failure: unknown): number => {
  if (failure instanceof SettingsRefused) return exitCodes.usage
  if (failure instanceof PlatformError.PlatformError && failure.reason._tag === "NotFound") return exitCodes.usage
  if (Terminal.isQuitError(failure)) return exitCodes.interrupted
  if (CliError.isCliError(failure)) {
    return failure._tag === "ShowHelp" && failure.errors.length === 0 ? exitCodes.done : exitCodes.usage
  }
  const own = propertyOf(failure, Runtime.errorExitCode)
  if (typeof own === "number") return own
  const code = propertyOf(failure, "code")
  return isErrorCode(code) ? exitCodeOfStatus(errorStatuses[code]) : exitCodes.failed
}

/** Exit codes that a shell reports for a program that these signals ended. */
export const stoppedExitCodes = { SIGINT: exitCodes.interrupted, SIGTERM: exitCodes.terminated } as const
export type StopSignal = keyof typeof stoppedExitCodes

/** Name of the flag that selects the exit codes of OpenTofu and Terraform. */
export const detailedExitcode = "detailed-exitcode"

/** If the flag is present, converts an exit code to the tool's own: 0 for no changes, 2 for changes, 1 for everything else. */
export const inToolTerms = (args: ReadonlyArray<string>, code: number): number => {
  const isAsked = args.some((arg) => arg === `--${detailedExitcode}` || arg === `--${detailedExitcode}=true`)
  if (!isAsked || code === exitCodes.done || code >= exitCodes.interrupted) return code
  return code === exitCodes.changes ? 2 : 1
}
