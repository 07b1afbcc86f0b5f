import type { Finding } from "../../schema/records/CompatibilityReport.ts"

/**
 * A finding that is not yet assigned to a file. Identical files in a tree are read only once, so one problem may apply to
 * several files.
 */
export interface ScanProblem {
  readonly severity: Finding["severity"]
  readonly code: string
  readonly message: string
  readonly line?: number
}

/** Creates a problem that prevents the installation of the module. */
export const refusal = (code: string, message: string, line?: number): ScanProblem => ({
  severity: "error",
  code,
  message,
  ...(line === undefined ? {} : { line })
})

export const notice = (severity: "info" | "warning", code: string, message: string, line?: number): ScanProblem => ({
  severity,
  code,
  message,
  ...(line === undefined ? {} : { line })
})

export const locate = (problem: ScanProblem, path: string): Finding => ({ ...problem, path })

const maxQuoted = 100

/** Quotes a name from a repository so that it is safe in messages. */
export const quoted = (name: string): string =>
  JSON.stringify(name.length > maxQuoted ? `${name.slice(0, maxQuoted)}…` : name)
