import {
  blankClass,
  type ByteSink,
  foldedClass,
  isDigitByte,
  isWordByte,
  type LeftOutBreaks,
  noPosition,
  quoteClass,
  type Span
} from "./FoldedText.ts"
import type { Pattern, PatternAutomaton } from "./PatternAutomaton.ts"
import { shortestAnywhere } from "./SecretRule.ts"

// A longer run of blanks or quotes is not part of a secret; without a bound it could be held back indefinitely.
const longestRun = 2048

/** A match whose next character has not arrived yet. */
interface Candidate {
  readonly pattern: Pattern
  readonly start: number
  readonly end: number
  /** A number followed by `-` or `.`: if a digit follows, the number is part of a longer number. */
  readonly separated: boolean
}

/**
 * Finds secrets in text as it is fed, byte by byte. The result depends only on the text, never on its split. `decoded` is for
 * bytes that may not be text at all: in such bytes only printable neighbours end a token.
 *
 * With `breaks` it reads text without its line breaks, and ignores blanks. In this mode it finds only matches that cross a break,
 * and no tokens: a line may begin or end with anything.
 */
export class SecretMatcher implements ByteSink {
  readonly #automaton: PatternAutomaton
  readonly #spans: Array<Span>
  readonly #decoded: boolean
  readonly #breaks: LeftOutBreaks | undefined
  // The most recent elements; the size is a power of two above the longest pattern.
  readonly #starts: Float64Array
  readonly #bytes: Uint8Array
  // For each element, the number of bytes fed so far, including bytes that a comparison ignores.
  readonly #feds: Uint32Array
  #fed = 0
  readonly #mask: number
  #count = 0
  #state = 0
  #run = 0
  #runStart = 0
  #end = 0
  #last: Span | undefined
  #lastGrows = false
  #candidates: Array<Candidate> = []

  constructor(automaton: PatternAutomaton, spans: Array<Span>, decoded: boolean, breaks?: LeftOutBreaks) {
    this.#automaton = automaton
    this.#spans = spans
    this.#decoded = decoded
    this.#breaks = breaks
    const remembered = 2 ** Math.ceil(Math.log2(automaton.longest + 4))
    this.#starts = new Float64Array(remembered)
    this.#bytes = new Uint8Array(remembered)
    this.#feds = new Uint32Array(remembered)
    this.#mask = remembered - 1
  }

  byte(value: number, start: number, end: number): void {
    if (value === 0) return
    this.#fed++
    const kind = foldedClass(value)
    if (this.#breaks !== undefined && kind === blankClass) return
    if (kind !== 0 && kind === this.#run && this.#count > 0) {
      if (this.#last !== undefined && this.#last.end === this.#end) this.#grow(this.#last, end)
      this.#end = end
      if (end - this.#runStart > longestRun) this.#state = 0
      return
    }
    const element = kind === 0 ? value : kind
    if (this.#candidates.length > 0) this.#decide(element)
    const index = this.#count & this.#mask
    this.#starts[index] = start
    this.#bytes[index] = element
    this.#feds[index] = this.#fed
    if (kind !== 0) this.#runStart = start
    // This byte represents the trailing backslashes of a secret.
    if (this.#last !== undefined && this.#lastGrows && kind === quoteClass && this.#last.end === this.#end) {
      this.#grow(this.#last, end)
    } else {
      this.#last = undefined
    }
    this.#lastGrows = false
    this.#run = kind
    this.#end = end
    this.#count++
    this.#state = this.#automaton.step(this.#state, element)
    if (this.#state !== 0) this.#take(end)
  }

  /** Continues from another matcher's position. */
  continueFrom(other: SecretMatcher): void {
    this.#starts.set(other.#starts)
    this.#bytes.set(other.#bytes)
    this.#feds.set(other.#feds)
    this.#fed = other.#fed
    this.#count = other.#count
    this.#state = other.#state
    this.#run = other.#run
    this.#runStart = other.#runStart
    this.#end = other.#end
    this.#last = other.#last
    this.#lastGrows = other.#lastGrows
    this.#candidates = [...other.#candidates]
  }

  /** Backslashes that only quote the next character. */
  skipped(start: number, end: number): void {
    if (this.#last !== undefined && this.#lastGrows && this.#last.end === start) {
      this.#grow(this.#last, end)
      this.#end = end
    }
  }

  edge(): void {
    if (this.#candidates.length > 0) {
      for (const candidate of this.#candidates) this.#accept(candidate)
      this.#candidates = []
    }
    this.#state = 0
    this.#count = 0
    this.#run = 0
    this.#last = undefined
  }

  /** Position where the longest suffix that could still become a secret begins. */
  open(): number {
    const depth = this.#automaton.depth[this.#state] ?? 0
    let position = depth === 0 ? noPosition : this.#startOf(depth)
    for (const candidate of this.#candidates) position = Math.min(position, candidate.start)
    return position
  }

  /**
   * Start of the trailing part that, if a secret follows, would already reveal too much of it; `pending` bytes of the part have
   * not been fed.
   */
  held(pending: number): number {
    const depth = this.#automaton.unfinishedDepth[this.#state] ?? 0
    if (depth < 2) return noPosition
    const index = (this.#count - depth) & this.#mask
    return this.#fed - (this.#feds[index] ?? 0) + 1 + pending >= shortestAnywhere ? this.#startOf(depth) : noPosition
  }

  /** The origin of the secret that may begin at `held`. */
  heldOrigin(): string | undefined {
    const depth = this.#automaton.unfinishedDepth[this.#state] ?? 0
    const beginning = Uint8Array.from({ length: depth }, (_, index) => {
      return this.#bytes[(this.#count - depth + index) & this.#mask] ?? 0
    })
    return this.#automaton.originOfBeginning(beginning)
  }

  // A reported span may already be in use, so an extension is reported as a separate span.
  #grow({ origin, start }: Span, end: number): void {
    this.#report({ start, end, origin })
  }

  #report(span: Span): void {
    this.#spans.push(span)
    this.#last = span
  }

  #startOf(length: number): number {
    return this.#starts[(this.#count - length) & this.#mask] ?? 0
  }

  #take(end: number): void {
    const found = this.#automaton.found(this.#state)
    const before = this.#breaks?.last ?? noPosition
    if (found !== undefined && this.#startOf(found.bytes.length) < before) {
      this.#report({ start: this.#startOf(found.bytes.length), end, origin: found.origin })
      this.#lastGrows = found.trailing
    }
    if (!this.#automaton.hasConditional(this.#state)) return
    for (const pattern of this.#automaton.conditional(this.#state)) {
      const start = this.#startOf(pattern.bytes.length)
      if (pattern.kind === "guarded" || pattern.kind === "unbroken") {
        if (pattern.kind === "unbroken" && this.#breaks === undefined) continue
        if (start >= before || end - start < pattern.minSource) continue
        this.#report({ start, end, origin: pattern.origin })
        this.#lastGrows = pattern.trailing
      } else if (this.#breaks === undefined && this.#begins(pattern)) {
        this.#candidates.push({ pattern, start, end, separated: false })
      }
    }
  }

  // True if the character before a token ends the previous token.
  #begins({ bytes: { length }, kind }: Pattern): boolean {
    if (this.#decoded && length < 4) return false
    if (this.#count <= length) return true
    const before = (this.#count - length - 1) & this.#mask
    const value = this.#bytes[before] ?? 0
    if (!this.#separates(value)) return false
    if (kind === "token" || (value !== 0x2d && value !== 0x2e && value !== 0x2f) || this.#count <= length + 1)
      return true
    return !isDigitByte(this.#bytes[(before - 1) & this.#mask] ?? 0)
  }

  #separates(value: number): boolean {
    return !isWordByte(value) && (!this.#decoded || (value >= 0x20 && value < 0x7f))
  }

  #decide(element: number): void {
    const open: Array<Candidate> = []
    for (const candidate of this.#candidates) {
      if (candidate.separated) {
        if (!isDigitByte(element)) this.#accept(candidate)
      } else if (candidate.pattern.kind === "number" && (element === 0x2d || element === 0x2e)) {
        open.push({ ...candidate, separated: true })
      } else if (this.#separates(element)) {
        this.#accept(candidate)
      }
    }
    this.#candidates = open
  }

  #accept({ end, pattern, start }: Candidate): void {
    this.#spans.push({ start, end, origin: pattern.origin })
  }
}
