/** A table for people: a header row, and columns as wide as their longest cell. */
export const rowsText = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const all = [head.map((name) => name.toUpperCase()), ...rows]
  const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? "").length)))
  return all
    .map((row) =>
      row
        .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
        .join("  ")
        .trimEnd()
    )
    .join("\n")
}

/** Facts listed one per line, names first. */
export const factsText = (facts: ReadonlyArray<readonly [name: string, value: string | undefined]>): string => {
  const known = facts.filter((fact): fact is readonly [string, string] => fact[1] !== undefined && fact[1] !== "")
  const width = Math.max(...known.map(([name]) => name.length))
  return known.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join("\n")
}

const commitLength = 8
export const shortCommit = (commit: string | undefined) => commit?.slice(0, commitLength)

/** To the minute, which is enough for people; `--json` has the exact time. */
export const timeText = (at: string | undefined): string | undefined =>
  at === undefined ? undefined : `${at.slice(0, 16).replace("T", " ")} UTC`
