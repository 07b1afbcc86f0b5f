import { Cause } from "effect"

/** Result of one check by `svc doctor`. */
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

/** A finding of `svc doctor` or of an agent's doctor. */
export interface AnyFinding extends Omit<Finding, "check"> {
  readonly check: string
}

/** Creates the finding for a part that could not be checked. */
export const failedLook = (check: Finding["check"], cause: Cause.Cause<unknown>): Finding => {
  const error = Cause.squash(cause)
  return { check, status: "error", message: error instanceof Error ? error.message : String(error) }
}

const marks = { ok: "ok     ", warning: "warning", error: "error  " } as const

/** Formats the report for people: one line per finding, followed by its remedy. */
export const formatFindings = (findings: ReadonlyArray<AnyFinding>): string =>
  findings
    .flatMap(({ check, message, remedy, status }) => [
      `${marks[status]}  ${check.padEnd(10)}  ${message}`,
      ...(remedy === undefined ? [] : [`${" ".repeat(21)}${remedy}`])
    ])
    .join("\n")

/** Formats a finding as one line for the log or for a refusal. */
export const findingLine = ({ message, remedy }: Finding): string =>
  remedy === undefined ? message : `${message} ${remedy}`

export const isHealthy = (findings: ReadonlyArray<AnyFinding>): boolean =>
  findings.every(({ status }) => status !== "error")
