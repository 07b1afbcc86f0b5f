import { Base64Runs, HexRuns, type OpenSink } from "./EncodedRuns.ts"
import { type DecodedSink, EscapeDecoder } from "./EscapeDecoder.ts"
import { noPosition, type Span } from "./FoldedText.ts"
import type { PatternAutomaton } from "./PatternAutomaton.ts"
import { SecretMatcher } from "./SecretMatcher.ts"

/** How often a text may have been encoded in base64 or hexadecimal, one within the other. */
const deepestEncoding = 3
// Bytes that are no text hold ever fewer runs by chance the longer these must be.
const shortestBase64 = [6, 8, 12]
const shortestHex = [8, 12, 16]

/** Where all layers of one text report what they found. */
export interface Search {
  readonly automaton: PatternAutomaton
  readonly spans: Array<Span>
}

/**
 * One text without its escapes: matched as it is, and again with what is encoded in it decoded. What was encoded itself is
 * matched with its escapes as well: what stands before a secret may look like the beginning of one.
 */
export class DecodedText implements OpenSink {
  readonly #decoder: EscapeDecoder
  readonly #matcher: SecretMatcher
  readonly #runs: ReadonlyArray<OpenSink>
  readonly #plain: SecretMatcher | undefined
  #isEmpty = true

  constructor(search: Search, depth: number) {
    const matcher = new SecretMatcher(search.automaton, search.spans, depth > 0)
    const inner = () => new DecodedText(search, depth + 1)
    const runs =
      depth === deepestEncoding
        ? []
        : [new Base64Runs(shortestBase64[depth] ?? 0, inner), new HexRuns(shortestHex[depth] ?? 0, inner)]
    const [base64, hex] = runs
    const sink: DecodedSink = {
      byte: (value, start, end) => {
        matcher.byte(value, start, end)
        if (base64 === undefined || hex === undefined) return
        base64.byte(value, start, end)
        hex.byte(value, start, end)
      },
      skipped: (start, end) => matcher.skipped(start, end),
      edge: () => {
        matcher.edge()
        for (const run of runs) run.edge()
      }
    }
    this.#decoder = new EscapeDecoder(sink)
    this.#matcher = matcher
    this.#plain = depth === 0 ? undefined : new SecretMatcher(search.automaton, search.spans, true)
    this.#runs = runs
  }

  byte(value: number, start: number, end: number): void {
    this.#isEmpty = false
    this.#plain?.byte(value, start, end)
    this.#decoder.byte(value, start, end)
  }

  edge(): void {
    if (this.#isEmpty) return
    this.#isEmpty = true
    this.#plain?.edge()
    this.#decoder.edge()
  }

  open(): number {
    return this.#runs.reduce(
      (position, run) => Math.min(position, run.open()),
      Math.min(this.#decoder.open(), this.#matcher.open(), this.#plain?.open() ?? noPosition)
    )
  }
}
