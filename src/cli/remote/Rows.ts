const gap = "  "
/** Minimum width of a column. A narrower column would show nothing useful. */
const narrowest = 8

const isId = /^[a-z]{2,8}_[a-z0-9]{16,64}$/
const wide =
  /\p{Extended_Pictographic}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u
const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" })

/** Returns the number of terminal columns that a character occupies. */
const columnsOf = (character: string): number =>
  wide.test(character) ? 2 : /^[\p{Mn}\p{Me}\p{Cf}]+$/u.test(character) ? 0 : 1

/** Returns the number of terminal columns that a text occupies. */
export const displayWidth = (text: string): number =>
  /^[\x20-\x7e]*$/.test(text)
    ? text.length
    : [...graphemes.segment(text)].reduce((sum, { segment }) => sum + columnsOf(segment), 0)

const padded = (text: string, width: number) => text + " ".repeat(Math.max(0, width - displayWidth(text)))

/** Truncates text that is too wide, and adds an ellipsis. */
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

/** Narrows the widest columns until the row fits. Shortens ids last, because a truncated id is useless. */
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

/** Returns the width of the output terminal, or `undefined` for a pipe or a file. */
const terminalWidth = (): number | undefined => (process.stdout.isTTY ? process.stdout.columns : undefined)

/**
 * Formats a table with a header row for people. Each column is as wide as its longest cell, or narrower if the terminal is
 * too narrow.
 */
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

/** Formats facts, one per line, each preceded by its name. */
export const factsText = (facts: ReadonlyArray<readonly [name: string, value: string | undefined]>): string => {
  const known = facts.filter((fact): fact is readonly [string, string] => fact[1] !== undefined && fact[1] !== "")
  const width = Math.max(...known.map(([name]) => displayWidth(name)))
  return known.map(([name, value]) => `${padded(name, width)}${gap}${value}`).join("\n")
}

const commitLength = 8
export const shortCommit = (commit: string | undefined) => commit?.slice(0, commitLength)

/** Formats a time with a precision of one minute, which is sufficient for people. `--json` includes the exact time. */
export const timeText = (at: string | undefined): string | undefined =>
  at === undefined ? undefined : `${at.slice(0, 16).replace("T", " ")} UTC`
