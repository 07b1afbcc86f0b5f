import { diffArrays } from "diff"
import type { Difference, DifferenceLine } from "./Difference.ts"
import { visibleText } from "../../../schema/records/VisibleText.ts"
import { wordDifference } from "./WordDifference.ts"

/** Unchanged lines are folded only if that hides more than this many lines. */
const shortestFold = 3

/** Folds unchanged lines that are more than `context` lines away from a changed line. */
const folded = (lines: ReadonlyArray<DifferenceLine>, context: number): ReadonlyArray<DifferenceLine> => {
  const drawn: Array<DifferenceLine> = []
  for (let at = 0; at < lines.length; ) {
    if (lines[at]?.kind !== "same") {
      const line = lines[at++]
      if (line !== undefined) drawn.push(line)
      continue
    }
    let end = at
    while (end < lines.length && lines[end]?.kind === "same") end++
    const first = at === 0 ? at : Math.min(end, at + context)
    const last = end === lines.length ? end : Math.max(first, end - context)
    drawn.push(...lines.slice(at, first))
    const hidden = lines.slice(first, last)
    if (hidden.length < shortestFold) drawn.push(...hidden)
    else drawn.push({ kind: "fold", unit: "lines", count: hidden.length, lines: hidden })
    drawn.push(...lines.slice(last, end))
    at = end
  }
  return drawn
}

/** If there are more edits than this, the middle part is treated as replaced, because an exact result would take seconds. */
const mostEdits = 4000

interface Run {
  readonly kind: "same" | "changed"
  readonly before: ReadonlyArray<string>
  readonly after: ReadonlyArray<string>
}

/** Splits both sides into blocks of equal lines and blocks of different lines, in order. */
export const runsOfLines = (before: ReadonlyArray<string>, after: ReadonlyArray<string>): ReadonlyArray<Run> => {
  let head = 0
  while (head < before.length && head < after.length && before[head] === after[head]) head++
  let tail = 0
  const shorter = Math.min(before.length, after.length) - head
  while (tail < shorter && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++
  const middleBefore = before.slice(head, before.length - tail)
  const middleAfter = after.slice(head, after.length - tail)
  const changes = diffArrays([...middleBefore], [...middleAfter], { maxEditLength: mostEdits })
  const runs: Array<Run> = []
  const add = (kind: Run["kind"], removed: ReadonlyArray<string>, added: ReadonlyArray<string>) => {
    if (removed.length === 0 && added.length === 0) return
    const last = runs.at(-1)
    if (last?.kind !== kind) runs.push({ kind, before: removed, after: added })
    else runs[runs.length - 1] = { kind, before: [...last.before, ...removed], after: [...last.after, ...added] }
  }
  add("same", before.slice(0, head), after.slice(0, head))
  if (changes === undefined) add("changed", middleBefore, middleAfter)
  else {
    for (const { added, removed, value } of changes) {
      if (added) add("changed", [], value)
      else if (removed) add("changed", value, [])
      else add("same", value, value)
    }
  }
  add("same", before.slice(before.length - tail), after.slice(after.length - tail))
  return runs
}

interface Place {
  before: number
  after: number
}

/**
 * Returns the lines for a block that differs between the two sides. Similar lines are paired; other lines are grouped by
 * side.
 */
const changedLines = ({ after, before }: Run, place: Place): ReadonlyArray<DifferenceLine> => {
  const pairs = before.length === after.length ? before.length : 0
  const removed: Array<DifferenceLine> = []
  const added: Array<DifferenceLine> = []
  const lines: Array<DifferenceLine> = []
  const flush = () => {
    lines.push(...removed.splice(0), ...added.splice(0))
  }
  for (let index = 0; index < Math.max(before.length, after.length); index++) {
    const old = before[index]
    const young = after[index]
    const words =
      old !== undefined && young !== undefined ? wordDifference(visibleText(old), visibleText(young)) : undefined
    const isPair = index < pairs && words !== undefined && words.after.some(({ marked }) => !marked)
    if (isPair) flush()
    if (old !== undefined) {
      removed.push({
        kind: "removed",
        before: ++place.before,
        segments: words?.before ?? [{ text: visibleText(old), marked: false }]
      })
    }
    if (young !== undefined) {
      added.push({
        kind: "added",
        after: ++place.after,
        segments: words?.after ?? [{ text: visibleText(young), marked: false }]
      })
    }
    if (isPair) flush()
  }
  flush()
  return lines
}

/** The line difference between two texts, with the differing words marked within pairs. One side may be absent. */
export const lineDifference = (
  before: string | undefined,
  after: string | undefined,
  reading: "text" | "base64"
): Difference => {
  const runs = runsOfLines(before?.split("\n") ?? [], after?.split("\n") ?? [])
  const place: Place = { before: 0, after: 0 }
  const lines: Array<DifferenceLine> = []
  let added = 0
  let removed = 0
  let changed = 0
  let total = 0
  for (const run of runs) {
    total += Math.max(run.before.length, run.after.length)
    if (run.kind === "same") {
      for (const text of run.after) {
        lines.push({ kind: "same", before: ++place.before, after: ++place.after, text: visibleText(text) })
      }
      continue
    }
    changed += Math.max(run.before.length, run.after.length)
    added += Math.max(0, run.after.length - run.before.length)
    removed += Math.max(0, run.before.length - run.after.length)
    lines.push(...changedLines(run, place))
  }
  const withoutSpace = (text: string | undefined) => text?.replace(/\s+/g, "")
  return {
    reading,
    extent: { unit: "lines", changed, added, removed, total },
    highlights: [],
    paths: [],
    pathCount: 0,
    reordered: 0,
    only: withoutSpace(before) === withoutSpace(after) ? "whitespace" : undefined,
    lines: folded(lines, 1),
    changedLines: lines.filter(({ kind }) => kind !== "same").length
  }
}
