import { secretForms } from "./SecretForms.ts"
import { secretParts } from "./SecretParts.ts"

/** Half-open range of positions in a text. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** The same positions as ordered ranges that neither overlap nor touch. */
export const joinSpans = (spans: ReadonlyArray<Span>): ReadonlyArray<Span> => {
  const joined: Array<{ start: number; end: number }> = []
  for (const { start, end } of spans.toSorted((left, right) => left.start - right.start)) {
    const last = joined.at(-1)
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end)
    else joined.push({ start, end })
  }
  return joined
}

const quote = (form: string) => form.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")
const wordCharacter = "[A-Za-z0-9_]"
// Sorts after every text that goes on; stands for "the next character decides" behind a token.
const anyNext = "\uffff"
// The engine refuses an expression of more than about a million characters.
const longestPattern = 200_000

/** Expressions that together find the forms, the longest first wherever two begin at the same place. */
const patterns = (forms: ReadonlyArray<string>, wrap: (alternatives: string) => string): ReadonlyArray<RegExp> => {
  const groups: Array<Array<string>> = []
  let length = longestPattern
  for (const form of forms.toSorted((left, right) => right.length - left.length).map(quote)) {
    if (length + form.length > longestPattern) {
      groups.push([])
      length = 0
    }
    groups.at(-1)?.push(form)
    length += form.length + 1
  }
  return groups.map((group) => new RegExp(wrap(group.join("|")), "g"))
}

/** Finds a fixed set of secrets, in all their spellings, in text without terminal sequences. */
export class SecretMatcher {
  readonly #patterns: ReadonlyArray<RegExp>
  readonly #sorted: ReadonlyArray<string>
  readonly #initials: ReadonlySet<number>
  readonly #longest: number

  constructor(secrets: Iterable<string | Uint8Array>) {
    const forms = [...secrets].flatMap(secretParts).map(secretForms)
    const anywhere = [...new Set(forms.flatMap((form) => form.anywhere))]
    const tokens = [...new Set(forms.flatMap((form) => form.tokens))]
    const bounded = (alternatives: string) => `(?<!${wordCharacter})(?:${alternatives})(?!${wordCharacter})`
    this.#patterns = [...patterns(anywhere, (alternatives) => alternatives), ...patterns(tokens, bounded)]
    // Plain comparison of UTF-16 units, which is the order that the search below relies on.
    this.#sorted = [...anywhere, ...tokens.map((token) => token + anyNext)].sort()
    this.#initials = new Set(this.#sorted.map((form) => form.charCodeAt(0)))
    this.#longest = this.#sorted.reduce((longest, form) => Math.max(longest, form.length), 0)
  }

  /** True when any form stands in the text. */
  finds(text: string): boolean {
    return this.spans(text).length > 0
  }

  /** All matches that start at `from` or later; they may overlap. */
  spans(text: string, from = 0): ReadonlyArray<Span> {
    const spans: Array<Span> = []
    for (const pattern of this.#patterns) {
      pattern.lastIndex = from
      for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
        spans.push({ start: match.index, end: match.index + match[0].length })
        // The next match may begin inside this one.
        pattern.lastIndex = match.index + 1
      }
    }
    return spans
  }

  /** Start of the longest end of the text that more text could turn into a match; its length when there is none. */
  openSuffix(text: string): number {
    for (let start = Math.max(0, text.length - this.#longest + 1); start < text.length; start++) {
      if (this.#initials.has(text.charCodeAt(start)) && this.#isOpen(text.slice(start))) return start
    }
    return text.length
  }

  #isOpen(suffix: string): boolean {
    let low = 0
    let high = this.#sorted.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#sorted[middle] ?? "") <= suffix) low = middle + 1
      else high = middle
    }
    return this.#sorted[low]?.startsWith(suffix) ?? false
  }
}
