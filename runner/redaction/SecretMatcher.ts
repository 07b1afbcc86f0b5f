import { secretForms } from "./SecretForms.ts"
import { secretParts } from "./SecretParts.ts"

/** Half-open range of positions in a text. */
export interface Span {
  readonly start: number
  readonly end: number
}

const quote = (form: string) => form.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")
const alternatives = (forms: ReadonlyArray<string>) =>
  [...forms]
    .sort((left, right) => right.length - left.length)
    .map(quote)
    .join("|")
const wordCharacter = "[A-Za-z0-9_]"
// Sorts after every text that goes on; stands for "the next character decides" behind a token.
const anyNext = "\uffff"

/** Finds a fixed set of secrets, in all their spellings, in text without terminal sequences. */
export class SecretMatcher {
  readonly #pattern: RegExp | undefined
  readonly #sorted: ReadonlyArray<string>
  readonly #initials: ReadonlySet<number>
  readonly #longest: number

  constructor(secrets: Iterable<string | Uint8Array>) {
    const forms = [...secrets].flatMap(secretParts).map(secretForms)
    const anywhere = [...new Set(forms.flatMap((form) => form.anywhere))]
    const tokens = [...new Set(forms.flatMap((form) => form.tokens))]
    const bounded = `(?<!${wordCharacter})(?:${alternatives(tokens)})(?!${wordCharacter})`
    const branches = [...(anywhere.length > 0 ? [alternatives(anywhere)] : []), ...(tokens.length > 0 ? [bounded] : [])]
    this.#pattern = branches.length > 0 ? new RegExp(branches.join("|"), "g") : undefined
    // Plain comparison of UTF-16 units, which is the order that the search below relies on.
    this.#sorted = [...anywhere, ...tokens.map((token) => token + anyNext)].sort()
    this.#initials = new Set(this.#sorted.map((form) => form.charCodeAt(0)))
    this.#longest = this.#sorted.reduce((longest, form) => Math.max(longest, form.length), 0)
  }

  /** All matches that start at `from` or later, in order; overlapping and touching ones are joined. */
  spans(text: string, from = 0): ReadonlyArray<Span> {
    const pattern = this.#pattern
    if (pattern === undefined) return []
    const spans: Array<{ start: number; end: number }> = []
    pattern.lastIndex = from
    for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
      const start = match.index
      const end = start + match[0].length
      const last = spans.at(-1)
      if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end)
      else spans.push({ start, end })
      // The next match may begin inside this one.
      pattern.lastIndex = start + 1
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
