import { hasTerminalSequence, terminalSequences, unfinishedSequence } from "./AnsiSequences.ts"

interface Sequence {
  readonly start: number
  readonly end: number
  /** Length of the shadow before it. */
  readonly at: number
}

/** A text without its terminal sequences, and where each of its characters stood. */
export class TerminalShadow {
  readonly text: string
  readonly #sequences: ReadonlyArray<Sequence>

  constructor(original: string) {
    if (!hasTerminalSequence(original)) {
      this.text = original
      this.#sequences = []
      return
    }
    const sequences: Array<Sequence> = []
    let text = ""
    let from = 0
    for (const found of terminalSequences(original)) {
      text += original.slice(from, found.index)
      from = found.index + found[0].length
      sequences.push({ start: found.index, end: from, at: text.length })
    }
    this.text = text + original.slice(from)
    this.#sequences = sequences
  }

  /** Where the character stood in the original text. */
  position(index: number): number {
    const sequence = this.#sequences[this.#last((candidate) => candidate.at <= index)]
    return sequence === undefined ? index : sequence.end + index - sequence.at
  }

  /** The position itself, or the start of the sequence that it would cut. */
  boundary(position: number): number {
    const sequence = this.#sequences[this.#last((candidate) => candidate.start < position)]
    return sequence !== undefined && position < sequence.end ? sequence.start : position
  }

  // The sequences are in order, so what holds for one holds for those before it.
  #last(holds: (sequence: Sequence) => boolean): number {
    let low = 0
    let high = this.#sequences.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const sequence = this.#sequences[middle]
      if (sequence !== undefined && holds(sequence)) low = middle + 1
      else high = middle
    }
    return low - 1
  }
}

/** The shadow of a text that goes on: `complete` is where a sequence begins that is not finished yet. */
export const shadowOfPiece = (text: string) => {
  const complete = unfinishedSequence(text)
  return { complete, shadow: new TerminalShadow(text.slice(0, complete)) }
}
