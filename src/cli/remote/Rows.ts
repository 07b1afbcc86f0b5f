const gap = "  "
/** Fewer columns than this show nothing useful. */
const narrowest = 8

const isId = /^[a-z]{2,8}_[a-z0-9]{16,64}$/
const wide =
  /\p{Extended_Pictographic}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u
const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" })

/** The columns of a terminal that a character takes. */
const columnsOf = (character: string): number =>
  wide.test(character) ? 2 : /^[\p{Mn}\p{Me}\p{Cf}]+$/u.test(character) ? 0 : 1

/** The columns of a terminal that text takes. */
export const displayWidth = (text: string): number =>
  /^[\x20-\x7e]*$/.test(text)
    ? text.length
    : [...graphemes.segment(text)].reduce((sum, { segment }) => sum + columnsOf(segment), 0)

const padded = (text: string, width: number) => text + " ".repeat(Math.max(0, width - displayWidth(text)))

/** The text, or its beginning with an ellipsis if it is too wide. */
const cut = (text: string, width: number): string => {
  if (displayWidth(text) <= width) return text
  let kept = ""
  let used = 1
  for (const { segment } of graphemes.segment(text)) {
    used += columnsOf(segment)
    if (used > width) break
    kept += segment
  }
  return `${kept.trimEnd()}…`
}

/** Takes columns from the widest until the row fits. Ids are cut last: part of an id is of no use. */
const fitted = (widths: ReadonlyArray<number>, hasIds: ReadonlyArray<boolean>, room: number): ReadonlyArray<number> => {
  const fit = [...widths]
  for (const ids of [false, true]) {
    while (fit.reduce((sum, each) => sum + each, 0) > room) {
      const choices = fit.flatMap((each, column) => (hasIds[column] === ids && each > narrowest ? [column] : []))
      const [widest] = choices.toSorted((one, other) => (fit[other] ?? 0) - (fit[one] ?? 0))
      if (widest === undefined) break
      fit[widest] = (fit[widest] ?? 0) - 1
    }
  }
  return fit
}

/** The width of the terminal that output goes to; none for a pipe or a file. */
const terminalWidth = (): number | undefined => (process.stdout.isTTY ? process.stdout.columns : undefined)

/** A table for people: a header row, and columns as wide as their longest cell, or as the terminal allows. */
export const rowsText = (
  head: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>,
  width: number | undefined = terminalWidth()
): string => {
  const all = [head.map((name) => name.toUpperCase()), ...rows]
  const cells = (column: number) => all.map((row) => row[column] ?? "")
  const natural = head.map((_, column) => Math.max(...cells(column).map(displayWidth)))
  const hasIds = head.map((_, column) => cells(column).some((cell) => isId.test(cell)))
  const room = width === undefined ? Number.POSITIVE_INFINITY : width - gap.length * (head.length - 1)
  const widths = fitted(natural, hasIds, room)
  return all
    .map((row) =>
      widths
        .map((each, column) => padded(cut(row[column] ?? "", each), each))
        .join(gap)
        .trimEnd()
    )
    .join("\n")
}

/** Facts listed one per line, names first. */
export const factsText = (facts: ReadonlyArray<readonly [name: string, value: string | undefined]>): string => {
  const known = facts.filter((fact): fact is readonly [string, string] => fact[1] !== undefined && fact[1] !== "")
  const width = Math.max(...known.map(([name]) => displayWidth(name)))
  return known.map(([name, value]) => `${padded(name, width)}${gap}${value}`).join("\n")
}

const commitLength = 8
export const shortCommit = (commit: string | undefined) => commit?.slice(0, commitLength)

/** To the minute, which is enough for people; `--json` has the exact time. */
export const timeText = (at: string | undefined): string | undefined =>
  at === undefined ? undefined : `${at.slice(0, 16).replace("T", " ")} UTC`
