import { Base64Runs, HexRuns, type OpenSink, type RunSink } from "./EncodedRuns.ts"
import { beginsEscape, type DecodedSink, EscapeDecoder } from "./EscapeDecoder.ts"
import { type LeftOutBreaks, noPosition, type Span } from "./FoldedText.ts"
import type { PatternAutomaton } from "./PatternAutomaton.ts"
import { SecretMatcher } from "./SecretMatcher.ts"

/** Maximum nesting of base64 and hexadecimal encodings. */
const deepestEncoding = 3
// In binary data, longer runs are less likely to occur by chance. Shorter runs encode fewer than 6 bytes.
const shortestBase64 = [6, 8, 8]
const shortestHex = [8, 12, 12]

/** The place where all layers of one text report their findings. */
export interface Search {
  readonly automaton: PatternAutomaton
  readonly spans: Array<Span>
}

/**
 * The text with its escapes undone: matched unchanged, and again after decoding anything encoded in it. From the first escape on,
 * it is also matched with its escapes: text adjacent to a secret may look like part of an escape.
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

  /** `breaks` is for text without its line breaks. */
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

  /** Continues matching from the position of another text; decoders start afresh. */
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

  // An incomplete escape may already determine its character.
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
