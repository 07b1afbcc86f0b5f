import { diffArrays } from "diff"
import type { Segment } from "./Difference.ts"

/** Identifiers, numbers and whitespace. Every other character is a separate word. */
const token = /[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu

/** Longer lines are compared as a whole, because comparing their words would cost too much. */
const longestLine = 4000

/** Differing words in a pair of lines are marked only if the lines share at least this fraction of their characters. */
const leastAgreement = 0.3

const whole = (text: string): ReadonlyArray<Segment> => [{ text, marked: false }]

export interface WordDifference {
  readonly before: ReadonlyArray<Segment>
  readonly after: ReadonlyArray<Segment>
  /** Number of characters that both lines share, as a fraction of the longer line's length, from 0 to 1. */
  readonly agreement: number
}

const push = (segments: Array<Segment>, text: string, marked: boolean) => {
  const last = segments.at(-1)
  if (last?.marked === marked) segments[segments.length - 1] = { text: last.text + text, marked }
  else segments.push({ text, marked })
}

/** The changed words within a pair of lines. Words in dissimilar lines are not marked. */
export const wordDifference = (before: string, after: string): WordDifference => {
  const plain = { before: whole(before), after: whole(after) }
  if (before.length > longestLine || after.length > longestLine) return { ...plain, agreement: 0 }
  const marked = { before: [] as Array<Segment>, after: [] as Array<Segment> }
  let agreed = 0
  for (const change of diffArrays(before.match(token) ?? [], after.match(token) ?? [])) {
    const text = change.value.join("")
    if (change.added) push(marked.after, text, true)
    else if (change.removed) push(marked.before, text, true)
    else {
      if (text.trim() !== "") agreed += text.length
      push(marked.before, text, false)
      push(marked.after, text, false)
    }
  }
  const agreement = agreed / Math.max(before.length, after.length, 1)
  return agreement < leastAgreement ? { ...plain, agreement } : { ...marked, agreement }
}
