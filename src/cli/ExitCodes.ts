import { PlatformError, Runtime, Terminal } from "effect"
import { CliError } from "effect/cli"
import { errorStatuses } from "../../schema/errors/ApiError.ts"
import { SettingsRefused } from "../settings/SettingsRefused.ts"

/** All exit codes that commands use. `npm run docs:cli` generates `docs/exit-codes.md` from this table. */
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
    examples: "The command succeeded. A server or an agent has stopped as requested."
  },
  failed: {
    meaning: "refused or failed",
    examples:
      "The server refused a value, a Run failed, a check found a fault, the person declined at a prompt, or the result could not be written to standard output."
  },
  usage: {
    meaning: "the command line, a value, a file or a setting is invalid",
    examples:
      "An unknown flag, an invalid date, a missing file, an ambiguous name, or a prompt without a terminal. No change was sent."
  },
  changes: {
    meaning: "changes need a decision, or a plan waits for approval",
    examples:
      "`svc plan` found changes, also with `--speculative`, `svc drift` found a difference, or `svc apply` got an unapproved plan. With `--detailed-exitcode` this is 2, and every other failure is 1, as in the tool."
  },
  forbidden: {
    meaning: "not signed in, or forbidden",
    examples: "No login, an expired login or token, a wrong password, or an insufficient role or scope."
  },
  notFound: {
    meaning: "not found",
    examples: "The Capsule, Run, Output, Connection, Workspace or context does not exist, or you may not see it."
  },
  conflict: {
    meaning: "conflict: the record has changed, or its state does not allow the action",
    examples:
      "A plan other than the reviewed plan, a plan that was already applied, or a Capsule with another Run in progress."
  },
  unreachable: {
    meaning: "the server is unreachable, or the wait timed out",
    examples: "A wrong address, a server that is down, or `--wait-timeout`. Runs on the server continue."
  },
  interrupted: { meaning: "interrupted", examples: "Ctrl-C. Runs on the server continue." },
  terminated: { meaning: "terminated", examples: "SIGTERM, as sent by a pipeline. Runs on the server continue." }
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

/** Exit codes that a shell reports for a program ended by these signals. */
export const stoppedExitCodes = { SIGINT: exitCodes.interrupted, SIGTERM: exitCodes.terminated } as const
export type StopSignal = keyof typeof stoppedExitCodes

/** Name of the flag that selects the exit codes of OpenTofu and Terraform. */
export const detailedExitcode = "detailed-exitcode"

/**
 * If the flag is present, converts an exit code to the tool's exit code: 0 for no changes, 2 for changes, 1 for everything
 * else.
 */
export const inToolTerms = (args: ReadonlyArray<string>, code: number): number => {
  const isAsked = args.some((arg) => arg === `--${detailedExitcode}` || arg === `--${detailedExitcode}=true`)
  if (!isAsked || code === exitCodes.done || code >= exitCodes.interrupted) return code
  return code === exitCodes.changes ? 2 : 1
}
