import { stripAnsi } from "./Ansi.ts"

interface Lines {
  readonly length: number
  readonly line: (index: number) => { readonly text: string } | undefined
}

/**
 * A search of a growing log that is taken a stretch at a time, so that a long log never holds up the page. It keeps what it
 * knows: lines that arrive are looked at once, and a longer text looks only where the shorter one was found.
 */
export class LogSearch {
  private readonly lines: Lines
  private readonly wanted: string
  private readonly found: Array<number> = []
  /** What the shorter text was found in, to be looked at before the rest. */
  private readonly likely: ReadonlyArray<number>
  private likelyNext = 0
  private next: number

  constructor(lines: Lines, text: string, shorter?: LogSearch) {
    this.lines = lines
    this.wanted = text.toLowerCase()
    const narrows = shorter !== undefined && shorter.wanted !== "" && this.wanted.includes(shorter.wanted)
    this.likely = narrows ? [...shorter.found, ...shorter.likely.slice(shorter.likelyNext)] : []
    this.next = narrows ? shorter.next : 0
  }

  /** Indexes of the lines that hold the text, whatever its case, in order; it grows with every step. */
  get matches(): ReadonlyArray<number> {
    return this.found
  }

  get done(): boolean {
    return this.wanted === "" || (this.likelyNext >= this.likely.length && this.next >= this.lines.length)
  }

  /** Looks at so many lines at the most. */
  step(count: number): void {
    for (let left = count; left > 0 && !this.done; left -= 1) {
      const likely = this.likely[this.likelyNext]
      if (likely === undefined) this.look(this.next++)
      else {
        this.likelyNext += 1
        this.look(likely)
      }
    }
  }

  private look(index: number): void {
    const line = this.lines.line(index)
    if (line !== undefined && stripAnsi(line.text).toLowerCase().includes(this.wanted)) this.found.push(index)
  }
}
