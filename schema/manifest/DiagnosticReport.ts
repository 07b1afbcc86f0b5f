import type { JsonRefusal } from "../json/JsonRefusal.ts"
import { diagnosticPath, type DocumentPath } from "./DiagnosticPath.ts"
import { type ManifestDiagnostic, type ManifestDiagnosticCode, maxDiagnostics } from "./ManifestDiagnostic.ts"

/** Reports a violated rule at `path`. `message` must not contain the value. */
export type Report = (path: DocumentPath, code: ManifestDiagnosticCode, message: string) => void

/** Creates a list that collects at most `maxDiagnostics` diagnostics. */
export const diagnosticReport = (): {
  readonly diagnostics: ReadonlyArray<ManifestDiagnostic>
  readonly report: Report
} => {
  const diagnostics: Array<ManifestDiagnostic> = []
  const report: Report = (path, code, message) => {
    if (diagnostics.length < maxDiagnostics) diagnostics.push({ path: diagnosticPath(path), code, message })
  }
  return { diagnostics, report }
}

/** Converts a JSON error to a diagnostic of the whole document. */
export const jsonDiagnostic = ({ message, position, reason }: JsonRefusal): ManifestDiagnostic => ({
  path: "",
  code: `json_${reason}`,
  message: position === undefined ? message : `Line ${position.line}, column ${position.column}: ${message}`
})

/** Formats diagnostics as lines of an error message. */
export const describeDiagnostics = (diagnostics: ReadonlyArray<ManifestDiagnostic>): string =>
  diagnostics.map(({ message, path }) => (path === "" ? message : `${path}: ${message}`)).join(" ")
