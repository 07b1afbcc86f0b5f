import { beginsEscape, type DecodedSink, EscapeDecoder } from "./EscapeDecoder.ts"
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

// Maximum length of a run of whitespace or quotes inside a secret. Without a limit, a run could be held back indefinitely.
const longestRun = 2048

/** A match whose next character has not arrived yet. */
interface Candidate {
  readonly pattern: Pattern
  readonly start: number
  readonly end: number
  /** True for a number that is followed by `-` or `.`. If a digit comes next, the number is part of a longer number. */
  readonly separated: boolean
}

/**
 * Finds secrets in text, byte by byte. The result depends only on the text, not on how it is split.
 * - `decoded`: the bytes may not be text, so only printable neighbours end a token
 * - `breaks`: reads text without its line breaks and ignores whitespace; finds only matches that span a line break, and no
 *   tokens, because a line may begin or end with anything
 */
class SecretMatcher implements ByteSink {
  readonly #automaton: PatternAutomaton
  readonly #spans: Array<Span>
  readonly #decoded: boolean
  readonly #breaks: LeftOutBreaks | undefined
  // Positions of the most recent elements. The size is a power of two above the longest pattern.
  readonly #starts: Float64Array
  readonly #bytes: Uint8Array
  // For each element, the number of bytes read so far, including bytes that the comparison ignores.
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
    // Extend the last match, because this byte represents the trailing backslashes of its secret.
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

  /** Skips backslashes that only quote the next character. */
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

  /** Returns the start of the longest suffix that may still become a secret. */
  open(): number {
    const depth = this.#automaton.depth[this.#state] ?? 0
    let position = depth === 0 ? noPosition : this.#startOf(depth)
    for (const candidate of this.#candidates) position = Math.min(position, candidate.start)
    return position
  }

  /**
   * Returns the start of the suffix that would reveal too much if it turned out to be a secret. The last `pending` bytes of
   * the suffix have not been processed yet.
   */
  held(pending: number): number {
    const depth = this.#automaton.unfinishedDepth[this.#state] ?? 0
    if (depth < 2) return noPosition
    const index = (this.#count - depth) & this.#mask
    return this.#fed - (this.#feds[index] ?? 0) + 1 + pending >= shortestAnywhere ? this.#startOf(depth) : noPosition
  }

  /** Returns the origin of the secret that may begin at the position returned by `held`. */
  heldOrigin(): string | undefined {
    const depth = this.#automaton.unfinishedDepth[this.#state] ?? 0
    const beginning = Uint8Array.from({ length: depth }, (_, index) => {
      return this.#bytes[(this.#count - depth + index) & this.#mask] ?? 0
    })
    return this.#automaton.originOfBeginning(beginning)
  }

  // Reports the extension of a match separately, because the span of the match may already be in use.
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

  // Returns true if a token may begin after the character before the match.
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

/** A sink that reports the start of the undecided text. */
interface OpenSink extends ByteSink {
  readonly open: () => number
  /**
   * Returns the start of the suffix that would reveal too much if it turned out to be a secret. The last `pending` bytes of
   * the suffix have not been processed yet.
   */
  readonly held: (pending: number) => number
  /** Returns the origin of the secret that may begin at the position returned by `held`. */
  readonly heldOrigin: (position: number, pending: number) => string | undefined
}

const base64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

const alphabet = (...spellings: ReadonlyArray<string>) => {
  const values = new Int8Array(256).fill(-1)
  for (const digits of spellings) {
    for (const [value, digit] of Array.from(digits).entries()) values[digit.charCodeAt(0)] = value
  }
  return values
}
const sextets = alphabet(base64Digits, base64Digits.replace("+", "-").replace("/", "_"))
const nibbles = alphabet("0123456789abcdef", "0123456789ABCDEF")

const isLineBreak = (value: number) => value === 0x0a || value === 0x0d
const isBlank = (value: number) => value === 0x20 || value === 0x09 || isLineBreak(value)
const zero = 0x30
const isX = (value: number) => value === 0x78 || value === 0x58

/**
 * Collects runs of characters that an encoding uses. Ignores runs of fewer than `shortest` characters, and starts to decode
 * a run only once it has reached that length.
 */
abstract class RunSink implements OpenSink {
  readonly #alphabet: Int8Array
  readonly #shortest: number
  readonly #heldDigits: Uint8Array
  readonly #heldStarts: Float64Array
  readonly #heldEnds: Float64Array
  readonly #layer: () => OpenSink
  readonly #phases: number
  #layers: ReadonlyArray<OpenSink> | undefined
  #length = 0
  protected previous = 0
  protected previousStart = 0

  constructor(values: Int8Array, shortest: number, phases: number, layer: () => OpenSink) {
    this.#alphabet = values
    this.#shortest = shortest
    this.#heldDigits = new Uint8Array(shortest)
    this.#heldStarts = new Float64Array(shortest)
    this.#heldEnds = new Float64Array(shortest)
    this.#layer = layer
    this.#phases = phases
  }

  /** Returns true if this byte, inside a run, does not end the run. */
  protected abstract isIgnored(value: number): boolean
  protected abstract digit(layers: ReadonlyArray<OpenSink>, value: number, index: number, end: number): void

  byte(value: number, start: number, end: number): void {
    const digit = this.#alphabet[value] ?? -1
    if (digit < 0) {
      if (this.#length > 0 && !this.isIgnored(value)) this.edge()
      return
    }
    if (this.#length >= this.#shortest) return this.#take(digit, start, end)
    this.#heldDigits[this.#length] = digit
    this.#heldStarts[this.#length] = start
    this.#heldEnds[this.#length] = end
    if (++this.#length < this.#shortest) return
    this.#length = 0
    for (let index = 0; index < this.#shortest; index++) {
      this.#take(this.#heldDigits[index] ?? 0, this.#heldStarts[index] ?? 0, this.#heldEnds[index] ?? 0)
    }
  }

  /** Returns true if a byte may be part of a run. Most bytes of a text cannot be. */
  wants(value: number): boolean {
    return this.#length > 0 || (this.#alphabet[value] ?? -1) >= 0
  }

  edge(): void {
    if (this.#length >= this.#shortest) for (const layer of this.#layers ?? []) layer.edge()
    this.#length = 0
  }

  open(): number {
    if (this.#length === 0) return noPosition
    if (this.#length < this.#shortest) return this.#heldStarts[0] ?? noPosition
    return (this.#layers ?? []).reduce((position, layer) => Math.min(position, layer.open()), this.previousStart)
  }

  // Ignores a run that is too short to decode, because such a run cannot reveal too much.
  held(pending: number): number {
    if (this.#length < this.#shortest) return noPosition
    return (this.#layers ?? []).reduce((position, layer) => Math.min(position, layer.held(pending)), noPosition)
  }

  heldOrigin(position: number, pending: number): string | undefined {
    return this.#layers?.find((layer) => layer.held(pending) === position)?.heldOrigin(position, pending)
  }

  #take(digit: number, start: number, end: number): void {
    this.#layers ??= Array.from({ length: this.#phases }, this.#layer)
    this.digit(this.#layers, digit, this.#length, end)
    this.previous = digit
    this.previousStart = start
    this.#length++
  }
}

/** Minimum length of a line that may continue on the next line. Encoders do not wrap shorter lines. */
const shortestWrapped = 20

/** Decodes everything that may be base64, standard or URL-safe, on one or several lines, at each of the four alignments. */
class Base64Runs extends RunSink {
  #broken = false
  #lineLength = 0

  constructor(shortest: number, layer: () => OpenSink) {
    super(sextets, shortest, 4, layer)
  }

  override edge(): void {
    this.#broken = false
    this.#lineLength = 0
    super.edge()
  }

  // Ignores indentation, because encoders that wrap lines may indent them.
  protected isIgnored(value: number): boolean {
    if (isLineBreak(value) && this.#lineLength >= shortestWrapped) this.#broken = true
    return this.#broken && isBlank(value)
  }

  protected digit(layers: ReadonlyArray<OpenSink>, value: number, index: number, end: number): void {
    if (this.#broken) this.#lineLength = 0
    this.#broken = false
    this.#lineLength++
    const pair = (this.previous << 6) | value
    if (index === 0) return
    // Decode every alignment, because the text may begin inside a group.
    for (let phase = 0; phase < 4; phase++) {
      const place = (index - phase) & 3
      if (place !== 0) layers[phase]?.byte((pair >> (6 - 2 * place)) & 0xff, this.previousStart, end)
    }
  }
}

/** Decodes everything that may be hexadecimal, including pairs separated by `:`, `-`, `,`, whitespace, line breaks or `0x`. */
class HexRuns extends RunSink {
  #lineLength = 0
  // Position of a zero that may begin `0x`; negative if there is none.
  #zeroStart = -1
  #zeroEnd = 0

  constructor(shortest: number, layer: () => OpenSink) {
    super(nibbles, shortest, 2, layer)
  }

  override byte(value: number, start: number, end: number): void {
    if (this.#zeroStart >= 0) {
      const held = this.#zeroStart
      this.#zeroStart = -1
      if (isX(value)) return
      super.byte(zero, held, this.#zeroEnd)
    }
    if (value === zero) {
      this.#zeroStart = start
      this.#zeroEnd = end
    } else {
      super.byte(value, start, end)
    }
  }

  override wants(value: number): boolean {
    return this.#zeroStart >= 0 || super.wants(value)
  }

  override edge(): void {
    const held = this.#zeroStart
    this.#zeroStart = -1
    if (held >= 0) super.byte(zero, held, this.#zeroEnd)
    this.#lineLength = 0
    super.edge()
  }

  override open(): number {
    return this.#zeroStart < 0 ? super.open() : Math.min(this.#zeroStart, super.open())
  }

  override held(pending: number): number {
    return super.held(this.#pending(pending))
  }

  override heldOrigin(position: number, pending: number): string | undefined {
    return super.heldOrigin(position, this.#pending(pending))
  }

  #pending(pending: number): number {
    return this.#zeroStart < 0 ? pending : pending + 1
  }

  protected isIgnored(value: number): boolean {
    if (!isLineBreak(value)) return value === 0x3a || value === 0x2d || value === 0x2c || isBlank(value)
    const isWrapped = this.#lineLength >= shortestWrapped
    this.#lineLength = 0
    return isWrapped
  }

  protected digit(layers: ReadonlyArray<OpenSink>, value: number, index: number, end: number): void {
    this.#lineLength++
    if (index > 0) layers[(index - 1) & 1]?.byte((this.previous << 4) | value, this.previousStart, end)
  }
}

/** Maximum nesting of base64 and hexadecimal encodings. */
const deepestEncoding = 3
// Minimum length of a base64 run, by depth. Shorter runs encode fewer than 6 bytes. In binary data, longer runs are required,
// because they are less likely to be a coincidence.
const shortestBase64 = [6, 8, 8]
const shortestHex = [8, 12, 12]

/** Collects the findings from all layers of a text. */
export interface Search {
  readonly automaton: PatternAutomaton
  readonly spans: Array<Span>
}

/**
 * Decodes the escapes in a text, and then matches the text, both directly and after decoding the base64 and hexadecimal in
 * it. After the first escape, also matches the undecoded text, because characters next to a secret may look like part of an
 * escape.
 */
export class DecodedText implements OpenSink {
  readonly #decoder: EscapeDecoder
  readonly #matcher: SecretMatcher
  readonly #runs: ReadonlyArray<RunSink>
  readonly #search: Search
  readonly #depth: number
  readonly #breaks: LeftOutBreaks | undefined
  #plain: SecretMatcher | undefined
  #isPlain = true
  #isEmpty = true

  /** `breaks` is set for text from which line breaks were removed. */
  constructor(search: Search, depth: number, breaks?: LeftOutBreaks) {
    const matcher = new SecretMatcher(search.automaton, search.spans, depth > 0, breaks)
    const inner = () => new DecodedText(search, depth + 1, breaks)
    const runs =
      depth === deepestEncoding
        ? []
        : [new Base64Runs(shortestBase64[depth] ?? 0, inner), new HexRuns(shortestHex[depth] ?? 0, inner)]
    const [base64, hex] = runs
    const sink: DecodedSink = {
      byte: (value, start, end) => {
        matcher.byte(value, start, end)
        if (base64 === undefined || hex === undefined) return
        if (base64.wants(value)) base64.byte(value, start, end)
        if (hex.wants(value)) hex.byte(value, start, end)
      },
      skipped: (start, end) => matcher.skipped(start, end),
      edge: () => {
        matcher.edge()
        for (const run of runs) run.edge()
      }
    }
    this.#decoder = new EscapeDecoder(sink)
    this.#matcher = matcher
    this.#search = search
    this.#depth = depth
    this.#breaks = breaks
    this.#runs = runs
  }

  byte(value: number, start: number, end: number): void {
    this.#isEmpty = false
    if (!this.#isPlain) this.#plain?.byte(value, start, end)
    else if (beginsEscape(value)) this.#matchEscapes().byte(value, start, end)
    this.#decoder.byte(value, start, end)
  }

  /** Continues matching from the position of another text. Restarts the decoders. */
  continueFrom(other: DecodedText): void {
    this.#isEmpty = false
    this.#matcher.continueFrom(other.#matcher)
    if (!other.#isPlain && other.#plain !== undefined) this.#matchEscapes().continueFrom(other.#plain)
  }

  edge(): void {
    if (this.#isEmpty) return
    this.#isEmpty = true
    if (!this.#isPlain) this.#plain?.edge()
    this.#isPlain = true
    this.#decoder.edge()
  }

  open(): number {
    return this.#runs.reduce(
      (position, run) => Math.min(position, run.open()),
      Math.min(
        this.#decoder.open(),
        this.#matcher.open(),
        this.#isPlain ? noPosition : (this.#plain?.open() ?? noPosition)
      )
    )
  }

  held(pending: number): number {
    const all = this.#pending(pending)
    return this.#runs.reduce(
      (position, run) => Math.min(position, run.held(all)),
      Math.min(this.#matcher.held(all), this.#isPlain ? noPosition : (this.#plain?.held(pending) ?? noPosition))
    )
  }

  heldOrigin(position: number, pending: number): string | undefined {
    const all = this.#pending(pending)
    if (this.#matcher.held(all) === position) return this.#matcher.heldOrigin()
    if (!this.#isPlain && this.#plain?.held(pending) === position) return this.#plain.heldOrigin()
    return this.#runs.find((run) => run.held(all) === position)?.heldOrigin(position, all)
  }

  // Counts an incomplete escape as one pending byte, because the escape may already determine its character.
  #pending(pending: number): number {
    return this.#decoder.open() === noPosition ? pending : pending + 1
  }

  #matchEscapes(): SecretMatcher {
    this.#plain ??= new SecretMatcher(this.#search.automaton, this.#search.spans, this.#depth > 0, this.#breaks)
    this.#plain.continueFrom(this.#matcher)
    this.#isPlain = false
    return this.#plain
  }
}
