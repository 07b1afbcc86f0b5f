import type { DifferenceLine, Segment, ValuePair } from "../../dashboard/value-difference/Difference.ts"
import { valueDifference } from "../../dashboard/value-difference/ValueDifference.ts"
import { type Paint, terminalText } from "./TerminalText.ts"

const mostLines = 200

const segmentsText = (segments: ReadonlyArray<Segment>, style: "red" | "green", paint: Paint): string =>
  segments
    .map(({ marked, text }) =>
      marked ? paint("underline", paint(style, terminalText(text))) : paint(style, terminalText(text))
    )
    .join("")

const lineText = (line: DifferenceLine, paint: Paint): string => {
  switch (line.kind) {
    case "same":
      return `  ${terminalText(line.text)}`
    case "removed":
      return `${paint("red", "-")} ${segmentsText(line.segments, "red", paint)}`
    case "added":
      return `${paint("green", "+")} ${segmentsText(line.segments, "green", paint)}`
    case "path":
      return paint("faint", `@ ${line.path.map(terminalText).join(" › ")}`)
    case "moved":
      return `${paint("blue", "→")} ${terminalText(line.text)} ${paint("faint", `(${line.from} → ${line.to})`)}`
    case "fold":
      return paint("faint", `  … ${line.count} unchanged ${line.unit}`)
  }
}

const only = {
  whitespace: "only whitespace differs",
  type: "only the type differs",
  order: "only the order differs"
} as const

/** Formats the diff of a long value as a summary and lines. */
export const differenceText = (pair: ValuePair, paint: Paint) => {
  const difference = valueDifference(pair)
  const { changed, total, unit } = difference.extent
  const hasBoth = pair.before !== undefined && pair.after !== undefined
  const extent = difference.only === undefined ? `${changed} of ${total} ${unit} changed` : only[difference.only]
  const said = [
    ...(hasBoth ? [extent] : []),
    ...(difference.reading === "base64" ? ["decoded from base64"] : []),
    ...difference.highlights.map(({ after, before, name }) =>
      terminalText(`${name} ${before ?? "(none)"} → ${after ?? "(none)"}`)
    )
  ]
  const shown = difference.lines.slice(0, mostLines).map((line) => lineText(line, paint))
  const left = difference.lines.length - shown.length
  return {
    head: said.join(" · "),
    lines:
      left === 0 ? shown : [...shown, paint("faint", `… ${left} more lines; see them in the dashboard or with --json`)]
  }
}
