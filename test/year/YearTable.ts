import type { MonthFigures } from "./YearFigures.ts"

const mebibyte = 1024 * 1024

const shown = [
  "runs",
  "run_events",
  "run_log_chunks",
  "state_versions",
  "source_snapshots",
  "compatibility_reports",
  "audit_events",
  "account_sessions"
]

const mebibytes = (bytes: number) => (bytes / mebibyte).toFixed(1)

/** Header of the table of months, in Markdown. */
export const tableHead = [
  `| month | database, MiB | bound, MiB | log, MiB | snapshots, MiB | backups, MiB | ${shown.join(" | ")} |`,
  `|${"---|".repeat(6 + shown.length)}`
].join("\n")

export const monthRow = ({ backups, database, folders, log, month, rows }: MonthFigures, bound: number): string => {
  const bytes = [database, bound, log, folders["snapshots"] ?? 0, backups].map(mebibytes)
  return `| ${[String(month), ...bytes, ...shown.map((table) => String(rows.get(table) ?? 0))].join(" | ")} |`
}
