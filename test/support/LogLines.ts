import type { RunLogEntry } from "../../schema/events/RunEvent.ts"

/** The number of lines that a Run prints in log tests. `npm run test:logs` sets a larger number. */
export const logLines = Number(process.env["SVC_LOG_LINES"] ?? 5000)

/** A resource whose apply prints `line 1` to `line <logLines>`. */
export const printingResource = `
resource "terraform_data" "lines" {
  provisioner "local-exec" {
    command = "seq -f 'line %.0f' 1 ${logLines}"
  }
}
`

const printed = "(local-exec): "

/**
 * Returns the first difference from a log that contains every line once, in order and numbered without gaps. A line may
 * arrive in parts, because a busy machine may deliver a line before the tool has completed that line.
 */
export const lineProblem = (entries: ReadonlyArray<Pick<RunLogEntry, "seq" | "text">>): string | undefined => {
  const gap = entries.findIndex(({ seq }, index) => seq !== index + 1)
  if (gap !== -1) return `Entry ${gap + 1} has the number ${entries[gap]?.seq}`
  let complete = 0
  let part = ""
  for (const { text } of entries) {
    const at = text.indexOf(printed)
    if (at === -1 || text.startsWith("Executing", at + printed.length)) continue
    const expected = `line ${complete + 1}`
    part += text.slice(at + printed.length)
    if (!expected.startsWith(part)) return `"${part}" comes instead of "${expected}"`
    if (part !== expected) continue
    complete += 1
    part = ""
  }
  return complete === logLines ? undefined : `${complete} of ${logLines} lines are there`
}
