import { dumpColumns } from "./DumpColumns.ts"
import { type LeftOutBreaks, noPosition } from "./FoldedText.ts"
import { DecodedText, type Search } from "./TextLayer.ts"

/** The bytes that a dump (`xxd`, `od`, `hexdump`) represents, for each possible reading. */
export class DumpText {
  readonly #search: Search
  // The columns have no line breaks, so every match counts.
  readonly #breaks: LeftOutBreaks = { last: noPosition }
  readonly #readings = new Map<string, DecodedText>()
  #open: ReadonlySet<string> = new Set()

  constructor(search: Search) {
    this.#search = search
  }

  /**
   * One whole line. Once it contains part of a secret, the rest of the line is hidden too, because a dump shows everything twice.
   */
  line(text: string, position: number): void {
    const columns = dumpColumns(text)
    const end = position + text.length
    for (const reading of this.#open) if (!columns.has(reading)) this.#readings.get(reading)?.edge()
    for (const [name, bytes] of columns) {
      const reading = this.#readings.get(name) ?? new DecodedText(this.#search, 1, this.#breaks)
      this.#readings.set(name, reading)
      for (const { index, value } of bytes) reading.byte(value, position + index, end)
    }
    this.#open = new Set(columns.keys())
  }

  edge(): void {
    for (const name of this.#open) this.#readings.get(name)?.edge()
    this.#open = new Set()
  }

  open(): number {
    return this.#least((reading) => reading.open())
  }

  held(pending: number): number {
    return this.#least((reading) => reading.held(pending))
  }

  heldOrigin(position: number, pending: number): string | undefined {
    const found = [...this.#readings.values()].find((reading) => reading.held(pending) === position)
    return found?.heldOrigin(position, pending)
  }

  #least(of: (reading: DecodedText) => number): number {
    return [...this.#readings.values()].reduce((position, reading) => Math.min(position, of(reading)), noPosition)
  }
}
