import { stripAnsi } from "./Ansi.ts"

interface Lines {
  readonly length: number
  readonly line: (index: number) => { readonly text: string } | undefined
}

/**
 * Searches a growing log in slices, so that a long log never blocks the page. The search is incremental. New lines are searched
 * once, and if the search term gets longer, only the lines that matched the shorter term are searched.
 */
export class LogSearch {
  private readonly lines: Lines
  private readonly wanted: string
  private readonly found: Array<number> = []
  /** Lines that matched the shorter search term. These lines are searched first. */
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

  /**
   * Indexes of the lines that contain the search term, in ascending order. Case is ignored. The list grows with every step.
   */
  get matches(): ReadonlyArray<number> {
    return this.found
  }

  get done(): boolean {
    return this.wanted === "" || (this.likelyNext >= this.likely.length && this.next >= this.lines.length)
  }

  /** Searches at most `count` lines. */
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
