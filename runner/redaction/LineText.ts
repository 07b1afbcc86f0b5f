import { longestDumpLine, mayBeDump } from "./DumpColumns.ts"
import { DumpText } from "./DumpText.ts"
import { type LeftOutBreaks, noPosition } from "./FoldedText.ts"
import { DecodedText, type Search } from "./TextLayer.ts"
import { Utf8Feed } from "./Utf8Feed.ts"

interface Part {
  readonly text: string
  readonly position: number
}

// Number of characters to match past a line break before the two lines are separate again.
const stride = 8

const isBlank = (text: string, index: number) => {
  const unit = text.charCodeAt(index)
  return unit === 0x20 || unit === 0x09
}

/**
 * Text treated as lines: matched unchanged, and across its line breaks as if they were absent. Programs wrap their output, and a
 * tool that relays another program's output line by line does not indicate if a piece was a whole line. Matching crosses a break
 * only as far as a match that began before the break could extend. Lines of a dump are read by their columns.
 */
export class LineText {
  readonly #search: Search
  readonly #text: DecodedText
  readonly #feed: Utf8Feed
  readonly #breaks: LeftOutBreaks = { last: noPosition }
  #joined: { readonly text: DecodedText; readonly feed: Utf8Feed } | undefined
  #isJoined = false
  // Trailing blanks of the joined text, which belong to the text only if the line continues.
  #blanks: Part | undefined
  #dump: DumpText | undefined
  #line: Array<Part> = []
  #lineStart: number

  /** `position` is the position of the first character. */
  constructor(search: Search, position: number) {
    this.#search = search
    this.#text = new DecodedText(search, 0)
    this.#feed = new Utf8Feed(this.#text)
    this.#lineStart = position
  }

  text(text: string, position: number): void {
    let from = 0
    let nextReturn = text.indexOf("\r")
    let nextFeed = text.indexOf("\n")
    while (nextReturn >= 0 || nextFeed >= 0) {
      const at = nextFeed < 0 || (nextReturn >= 0 && nextReturn < nextFeed) ? nextReturn : nextFeed
      this.#take(text.slice(from, at), position + from)
      this.#endLine(position + at)
      this.#feed.text(text.slice(at, at + 1), position + at)
      this.#lineStart = position + at + 1
      from = at + 1
      if (at === nextReturn) nextReturn = text.indexOf("\r", from)
      else nextFeed = text.indexOf("\n", from)
    }
    if (from < text.length) this.#take(from === 0 ? text : text.slice(from), position + from)
  }

  /** Continues matching from another text's position; decoders start afresh. */
  continueFrom(other: LineText): void {
    this.#text.continueFrom(other.#text)
    this.#lineStart = other.#lineStart
    if (!other.#isJoined || other.#joined === undefined) return
    this.#isJoined = true
    this.#breaks.last = other.#breaks.last
    this.#joining().text.continueFrom(other.#joined.text)
  }

  end(): void {
    this.#readDump()
    this.#dump?.edge()
    this.#feed.end()
    this.#text.edge()
    if (this.#isJoined) this.#part()
    this.#line = []
  }

  /** Resets it for another text starting at 0. */
  restart(): void {
    this.#lineStart = 0
  }

  open(): number {
    const joined = this.#isJoined ? this.#joined : undefined
    return Math.min(
      this.#feed.open(),
      this.#text.open(),
      joined?.feed.open() ?? noPosition,
      joined?.text.open() ?? noPosition,
      this.#dump?.open() ?? noPosition,
      this.#mayBeDump() ? this.#lineStart : noPosition
    )
  }

  held(): number {
    return this.#sources().reduce((position, source) => Math.min(position, source.held(0)), noPosition)
  }

  heldOrigin(position: number): string | undefined {
    return this.#sources()
      .find((source) => source.held(0) === position)
      ?.heldOrigin(position, 0)
  }

  lineStart(): number {
    return this.#lineStart
  }

  #sources(): ReadonlyArray<Pick<DecodedText, "held" | "heldOrigin">> {
    const joined = this.#isJoined && this.#joined !== undefined ? [this.#joined.text] : []
    return [this.#text, ...joined, ...(this.#dump === undefined ? [] : [this.#dump])]
  }

  #joining() {
    if (this.#joined === undefined) {
      const text = new DecodedText(this.#search, 0, this.#breaks)
      this.#joined = { text, feed: new Utf8Feed(text) }
    }
    return this.#joined
  }

  #take(text: string, position: number): void {
    if (text === "") return
    this.#feed.text(text, position)
    if (this.#isJoined) this.#join(text, position, this.#line.length === 0)
    this.#line.push({ text, position })
  }

  #endLine(position: number): void {
    // A line is kept while a match that began in it is open.
    const open = Math.min(this.#feed.open(), this.#text.open())
    if (!this.#isJoined && open < position) {
      this.#isJoined = true
      this.#breaks.last = position
      this.#joining()
      for (const { position: start, text } of this.#line) {
        const from = Math.max(0, open - start)
        if (from < text.length) this.#feedJoined(text.slice(from), start + from)
      }
    }
    this.#breaks.last = position
    this.#blanks = undefined
    this.#readDump()
    this.#line = []
  }

  #join(text: string, position: number, isFirst: boolean): void {
    let from = 0
    if (isFirst) while (from < text.length && isBlank(text, from)) from++
    for (; this.#isJoined && from < text.length; from += stride) {
      this.#feedJoined(text.slice(from, from + stride), position + from)
      const { feed, text: joined } = this.#joining()
      // No match from before the break continues.
      if (Math.min(feed.open(), joined.open()) >= this.#breaks.last) this.#part()
    }
  }

  #part(): void {
    this.#isJoined = false
    this.#blanks = undefined
    const { feed, text } = this.#joining()
    feed.end()
    text.edge()
  }

  #feedJoined(text: string, position: number): void {
    const { feed } = this.#joining()
    let end = text.length
    while (end > 0 && isBlank(text, end - 1)) end--
    if (end > 0) {
      if (this.#blanks !== undefined) feed.text(this.#blanks.text, this.#blanks.position)
      feed.text(text.slice(0, end), position)
      this.#blanks = undefined
    }
    if (end === text.length) return
    this.#blanks = {
      text: (this.#blanks?.text ?? "") + text.slice(end),
      position: this.#blanks?.position ?? position + end
    }
  }

  #mayBeDump(): boolean {
    const [first] = this.#line
    return (
      first !== undefined &&
      mayBeDump(first.text) &&
      this.#line.reduce((length, { text }) => length + text.length, 0) <= longestDumpLine
    )
  }

  #readDump(): void {
    const [first] = this.#line
    if (first === undefined || !this.#mayBeDump()) {
      this.#dump?.edge()
      return
    }
    const isWhole = this.#line.every(({ position, text }, index) => {
      const next = this.#line[index + 1]
      return next === undefined || next.position === position + text.length
    })
    if (!isWhole) return
    this.#dump ??= new DumpText(this.#search)
    this.#dump.line(this.#line.map(({ text }) => text).join(""), first.position)
  }
}
