import type { Schema } from "effect"
import type { DifferingLine } from "../../../schema/records/CarryOver.ts"
import type { PlanDetails } from "../../../schema/records/PlanDetails.ts"

type Changes = Pick<PlanDetails, "checks" | "outputChanges" | "resourceChanges">

/** Limits on the number of lines and on the length of a line. */
export const mostLines = 100
const longestLine = 300

interface Sides {
  readonly before?: Schema.Json
  readonly after?: Schema.Json
  readonly sensitive?: boolean
  readonly unknown?: boolean
}

const shownValue = (value: Schema.Json | undefined) => (value === undefined ? "–" : JSON.stringify(value))

const shownSides = ({ after, before, sensitive, unknown }: Sides): string => {
  if (sensitive === true) return "(private)"
  return `${shownValue(before)} → ${after === undefined && unknown === true ? "(known after the apply)" : shownValue(after)}`
}

const cut = (text: string) => (text.length > longestLine ? `${text.slice(0, longestLine - 1)}…` : text)

/** Formats the parts of a plan that reviewers may see as lines. Equal lines describe equal parts of a change. */
const linesOf = ({ checks = [], outputChanges = [], resourceChanges = [] }: Changes): ReadonlyArray<string> => [
  ...resourceChanges.flatMap(({ actions, address, changedAttributes, deposed, importing, previousAddress, reason }) => {
    const parts = [
      ...(deposed === undefined ? [] : [`deposed ${deposed}`]),
      ...(importing === undefined ? [] : [`import ${importing.id ?? ""}`.trim()]),
      ...(previousAddress === undefined ? [] : [`moved from ${previousAddress}`]),
      ...(reason === undefined ? [] : [reason])
    ]
    const name = deposed === undefined ? address : `${address} (deposed ${deposed})`
    return [
      `${actions.join("/")} ${address}${parts.length === 0 ? "" : ` (${parts.join(", ")})`}`,
      ...changedAttributes.map(
        (attribute) =>
          `${name} ${attribute.name}: ${shownSides(attribute)}${attribute.forcesReplacement === true ? " (forces replacement)" : ""}`
      )
    ]
  }),
  ...outputChanges.map((output) => `output ${output.name} (${output.actions.join("/")}): ${shownSides(output)}`),
  ...checks.map(({ address, kind, status }) => `check ${kind} ${address}: ${status}`)
]

const counted = (lines: ReadonlyArray<string>) => {
  const counts = new Map<string, number>()
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1)
  return counts
}

const surplus = (lines: ReadonlyArray<string>, other: Map<string, number>, side: DifferingLine["side"]) =>
  lines.flatMap((text): ReadonlyArray<DifferingLine> => {
    const left = other.get(text) ?? 0
    if (left === 0) return [{ side, text: cut(text) }]
    other.set(text, left - 1)
    return []
  })

/**
 * Returns the lines that appear in only one of the two plans, and the number of lines that were left out. If the plans
 * differ only in private values, returns no lines.
 */
export const differingLines = (approved: Changes, planned: Changes) => {
  const [before, after] = [linesOf(approved), linesOf(planned)]
  const all = [...surplus(before, counted(after), "approved"), ...surplus(after, counted(before), "planned")]
  return {
    lines: all.slice(0, mostLines),
    ...(all.length > mostLines ? { moreLines: all.length - mostLines } : {})
  }
}
