import { Result } from "effect"

/** A literal value in a variable file. Numbers keep all their digits. */
export type FileValue =
  | null
  | boolean
  | string
  | { readonly digits: string }
  | { readonly items: ReadonlyArray<FileValue> }
  | { readonly members: ReadonlyMap<string, FileValue> }

/** The position of a syntax error, and the reason. It never contains any part of a value. */
class NotRead extends Error {
  readonly line: number

  constructor(line: number, why: string) {
    super(why)
    this.line = line
  }
}

const maxDepth = 100
const nameAt = /[\p{ID_Start}_][\p{ID_Continue}-]*/uy
const numberAt = /[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
const heredocAt = /<<(-?)([\p{ID_Start}_][\p{ID_Continue}-]*)\r?\n/uy
const blanksAt = /[ \t\r]*/y
const lineCommentAt = /(?:#|\/\/)[^\n]*/y
const unicodeEscapeAt = /\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))/y
const escapes: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", '"': '"', "\\": "\\" }
const leadingSpace = /^\p{White_Space}*/u

const computed = "its value is computed. Only literal values are read: write the result"

/** Refuse half of a surrogate pair, which is not a character. */
const characterOf = (point: number): string | undefined =>
  point > 0x10_ff_ff || (point >= 0xd8_00 && point <= 0xdf_ff) ? undefined : String.fromCodePoint(point)

/** Removes the common indentation from the lines of a heredoc. Blank lines are ignored and remain unchanged. */
const unindented = (text: string): string => {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? []
  const isBlank = (line: string) => line.trim() === ""
  const width = Math.min(
    ...lines.filter((line) => !isBlank(line)).map((line) => leadingSpace.exec(line)?.[0].length ?? 0)
  )
  return lines.map((line) => (isBlank(line) ? line : line.slice(width))).join("")
}

/** Reads literals in the tool's native syntax, and refuses every expression that the tool would evaluate. */
class Reader {
  #at = 0
  #depth = 0
  /** Name of the variable whose value is being read, for error messages. */
  #name: string | undefined
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  #refuse(why: string): never {
    const line = this.#text.slice(0, this.#at).split("\n").length
    throw new NotRead(line, this.#name === undefined ? why : `${this.#name}: ${why}`)
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)
    if (found === null) return undefined
    this.#at += found[0].length
    return found
  }

  #take(sign: string): boolean {
    const isThere = this.#text.startsWith(sign, this.#at)
    if (isThere) this.#at += sign.length
    return isThere
  }

  #isAt(sign: string): boolean {
    return this.#text.startsWith(sign, this.#at)
  }

  get #isOver(): boolean {
    return this.#at >= this.#text.length
  }

  /**
   * Skips blanks and comments. If `lines` is set, also skips line breaks, for places where line breaks are not separators.
   */
  #skip(lines: boolean): void {
    for (;;) {
      const start = this.#at
      this.#match(blanksAt)
      this.#match(lineCommentAt)
      if (this.#isAt("/*")) {
        const end = this.#text.indexOf("*/", this.#at + 2)
        if (end === -1) this.#refuse("a comment has no end")
        this.#at = end + 2
      }
      if (lines) this.#take("\n")
      if (this.#at === start) return
    }
  }

  /** Reads all assignments of a file. */
  file(): ReadonlyMap<string, FileValue> {
    const values = new Map<string, FileValue>()
    for (;;) {
      this.#skip(true)
      if (this.#isOver) return values
      const name = this.#match(nameAt)?.[0] ?? this.#refuse("expected the name of a variable")
      this.#skip(false)
      if (!this.#take("=") || this.#isAt("=")) this.#refuse(`expected = after ${name}`)
      if (values.has(name)) this.#refuse(`${name} is set twice`)
      values.set(name, this.#assigned(name))
    }
  }

  #assigned(name: string): FileValue {
    this.#name = name
    this.#skip(false)
    const value = this.#value()
    this.#skip(false)
    if (!this.#isOver && !this.#isAt("\n")) this.#refuse(computed)
    this.#name = undefined
    return value
  }

  /** Reads one value, and fails if anything follows it. */
  whole(): FileValue {
    this.#skip(true)
    const value = this.#value()
    this.#skip(true)
    if (!this.#isOver) this.#refuse(computed)
    return value
  }

  #value(): FileValue {
    if (++this.#depth > maxDepth) this.#refuse(`the value is nested deeper than ${maxDepth} levels`)
    const value = this.#literal()
    this.#depth--
    return value
  }

  #literal(): FileValue {
    if (this.#isAt('"')) return this.#quoted()
    const heredoc = this.#match(heredocAt)
    if (heredoc !== undefined) return this.#heredoc(heredoc[2] ?? "", heredoc[1] === "-")
    if (this.#take("[")) return { items: this.#items() }
    if (this.#take("{")) return { members: this.#members() }
    if (this.#take("(")) {
      this.#skip(true)
      const value = this.#value()
      this.#skip(true)
      return this.#take(")") ? value : this.#refuse(computed)
    }
    if (this.#take("-")) {
      this.#skip(false)
      return { digits: `-${this.#match(numberAt)?.[0] ?? this.#refuse(computed)}` }
    }
    const digits = this.#match(numberAt)?.[0]
    if (digits !== undefined) return { digits }
    switch (this.#match(nameAt)?.[0]) {
      case "true":
        return true
      case "false":
        return false
      case "null":
        return null
      case undefined:
        return this.#refuse(this.#isAt("!") ? computed : "expected a value")
      default:
        return this.#refuse(computed)
    }
  }

  #items(): ReadonlyArray<FileValue> {
    const items: Array<FileValue> = []
    for (;;) {
      this.#skip(true)
      if (this.#take("]")) return items
      items.push(this.#value())
      this.#skip(true)
      if (!this.#take(",") && !this.#isAt("]")) this.#refuse("expected , or ] in a list")
    }
  }

  #key(): string {
    if (this.#isAt('"')) return this.#quoted()
    if (this.#take("(")) {
      this.#skip(true)
      const key = this.#value()
      this.#skip(true)
      if (!this.#take(")")) this.#refuse(computed)
      if (typeof key === "string") return key
      if (typeof key === "boolean") return String(key)
      return this.#refuse("the key of an object is not a text")
    }
    return this.#match(nameAt)?.[0] ?? this.#match(/[0-9]+/y)?.[0] ?? this.#refuse("expected the key of an object")
  }

  #members(): ReadonlyMap<string, FileValue> {
    const members = new Map<string, FileValue>()
    for (;;) {
      this.#skip(true)
      if (this.#take("}")) return members
      const key = this.#key()
      this.#skip(false)
      if (!(this.#take("=") || this.#take(":")) || this.#isAt("="))
        this.#refuse("expected = after the key of an object")
      this.#skip(true)
      members.set(key, this.#value())
      this.#skip(false)
      if (!this.#take(",") && !this.#isAt("\n") && !this.#isAt("}")) this.#refuse("expected , or } in an object")
    }
  }

  /** Reads a doubled template marker, which is an escape. Refuses a single marker, because it would begin a template. */
  #sign(): string | undefined {
    for (const sign of ["$", "%"]) {
      if (this.#take(`${sign}${sign}{`)) return `${sign}{`
      if (this.#isAt(`${sign}{`)) this.#refuse(computed)
    }
    return undefined
  }

  #quoted(): string {
    this.#at++
    let text = ""
    for (;;) {
      if (this.#isOver || this.#isAt("\n")) this.#refuse("a text has no closing quote")
      if (this.#take('"')) return text.normalize("NFC")
      if (this.#isAt("\\")) text += this.#escape()
      else text += this.#sign() ?? this.#text[this.#at++] ?? ""
    }
  }

  #escape(): string {
    const unicode = this.#match(unicodeEscapeAt)
    const escaped =
      unicode === undefined
        ? escapes[this.#text[this.#at + 1] ?? ""]
        : characterOf(Number.parseInt(unicode[1] ?? unicode[2] ?? "", 16))
    if (escaped === undefined) this.#refuse("a text holds an escape that does not exist")
    if (unicode === undefined) this.#at += 2
    return escaped ?? ""
  }

  #heredoc(marker: string, indented: boolean): string {
    let text = ""
    for (;;) {
      if (this.#isOver) this.#refuse("a text in several lines has no end")
      const next = this.#text.indexOf("\n", this.#at)
      const end = next === -1 ? this.#text.length : next
      if (this.#text.slice(this.#at, end).trim() === marker) {
        this.#at = end
        return (indented ? unindented(text) : text).normalize("NFC")
      }
      while (this.#at < end) text += this.#sign() ?? this.#text[this.#at++] ?? ""
      if (next === -1) this.#refuse("a text in several lines has no end")
      text += "\n"
      this.#at = end + 1
    }
  }
}

const read = <A>(text: string, reading: (reader: Reader) => A): Result.Result<A, { line: number; why: string }> =>
  Result.try({
    try: () => reading(new Reader(text.startsWith("\ufeff") ? text.slice(1) : text)),
    catch: (error) => {
      if (error instanceof NotRead) return { line: error.line, why: error.message }
      throw error
    }
  })

/** Reads the assignments of a `.tfvars` file. */
export const readVariableFile = (text: string) => read(text, (reader) => reader.file())

/** Reads a value in the way that the tool reads the value of a structural variable from its command line. */
export const readValue = (text: string) => read(text, (reader) => reader.whole())
