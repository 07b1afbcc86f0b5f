import { Cause } from "effect"

/** One thing that `svc doctor` checks. */
export interface Finding {
  readonly check:
    | "tool"
    | "sandbox"
    | "limits"
    | "network"
    | "settings"
    | "transport"
    | "queue"
    | "mail"
    | "folder"
    | "files"
    | "disk"
    | "server"
    | "database"
    | "migrations"
    | "vault"
    | "installation"
    | "sealed"
    | "archives"
    | "restore"
    | "backup"
    | "key"
    | "clock"
  readonly status: "ok" | "warning" | "error"
  readonly message: string
  readonly remedy?: string | undefined
}

/** A finding of any doctor. */
export interface AnyFinding extends Omit<Finding, "check"> {
  readonly check: string
}

/** The finding for a part that could not be checked. */
export const failedLook = (check: Finding["check"], cause: Cause.Cause<unknown>): Finding => {
  const error = Cause.squash(cause)
  return { check, status: "error", message: error instanceof Error ? error.message : String(error) }
}

const marks = { ok: "ok     ", warning: "warning", error: "error  " } as const

/** The report for people: one line per finding, with its remedy below. */
export const formatFindings = (findings: ReadonlyArray<AnyFinding>): string =>
  findings
    .flatMap(({ check, message, remedy, status }) => [
      `${marks[status]}  ${check.padEnd(10)}  ${message}`,
      ...(remedy === undefined ? [] : [`${" ".repeat(21)}${remedy}`])
    ])
    .join("\n")

/** A finding as one line in the log or in a refusal. */
export const findingLine = ({ message, remedy }: Finding): string =>
  remedy === undefined ? message : `${message} ${remedy}`

export const isHealthy = (findings: ReadonlyArray<AnyFinding>): boolean =>
  findings.every(({ status }) => status !== "error")
