import { type Cursor, heredocMarker, skipComment, stepTemplate } from "./HclExpression.ts"
import { identifierAt } from "./Identifier.ts"

/** A token of a configuration file. Strings and heredocs contain their unescaped literal text and the tokens of each template. */
export type ConfigToken =
  | { readonly kind: "name"; readonly text: string; readonly line: number }
  | { readonly kind: "sign"; readonly text: string; readonly line: number }
  | { readonly kind: "line-end"; readonly line: number }
  | {
      readonly kind: "text"
      readonly parts: ReadonlyArray<string | ReadonlyArray<ConfigToken>>
      readonly heredoc: boolean
      readonly line: number
    }

/** Maximum nesting, far deeper than a scan accepts. */
const maxDepth = 200

const escapes: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", '"': '"', "\\": "\\" }
const unicodeEscape = /\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))/y

class Tokenizer implements Cursor {
  readonly text: string
  at = 0
  line = 1
  isBroken = false
  #depth = 0

  constructor(text: string) {
    this.text = text
  }

  /** Returns all tokens up to the brace that closes a template, or to the end of the file. */
  tokens(inTemplate: boolean): ReadonlyArray<ConfigToken> {
    const found: Array<ConfigToken> = []
    let braces = 0
    while (this.at < this.text.length && !this.isBroken) {
      const char = this.text[this.at] ?? ""
      const { line } = this
      if (char === "\n") {
        found.push({ kind: "line-end", line })
        this.at++
        this.line++
        continue
      }
      if (char === " " || char === "\t" || char === "\r") {
        this.at++
        continue
      }
      const comment = skipComment(this)
      if (comment === "unclosed") this.isBroken = true
      if (comment !== "none") continue
      if (char === '"') {
        this.at++
        found.push({ kind: "text", parts: this.#template(undefined), heredoc: false, line })
        continue
      }
      const marker = heredocMarker(this)
      if (marker !== undefined) {
        found.push({ kind: "text", parts: this.#template(marker), heredoc: true, line })
        continue
      }
      identifierAt.lastIndex = this.at
      const name = identifierAt.exec(this.text)?.[0]
      if (name !== undefined) {
        found.push({ kind: "name", text: name, line })
        this.at += name.length
        continue
      }
      this.at++
      if (char === "{") braces++
      if (char === "}" && inTemplate && braces-- === 0) return found
      found.push({ kind: "sign", text: char, line })
    }
    if (inTemplate) this.isBroken = true
    return found
  }

  #escape(): string {
    unicodeEscape.lastIndex = this.at
    const unicode = unicodeEscape.exec(this.text)
    if (unicode !== null) {
      this.at += unicode[0].length
      const point = Number.parseInt(unicode[1] ?? unicode[2] ?? "0", 16)
      return point > 0x10ffff ? "" : String.fromCodePoint(point)
    }
    const escaped = escapes[this.text[this.at + 1] ?? ""]
    if (escaped === undefined) this.isBroken = true
    this.at += 2
    return escaped ?? ""
  }

  /** If the cursor is at the last line of a heredoc, returns the position at which the heredoc ends. */
  #endOf(marker: string): number | undefined {
    const next = this.text.indexOf("\n", this.at)
    const end = next === -1 ? this.text.length : next
    return this.text.slice(this.at, end).trim() === marker ? end : undefined
  }

  #template(heredoc: string | undefined): ReadonlyArray<string | ReadonlyArray<ConfigToken>> {
    const parts: Array<string | ReadonlyArray<ConfigToken>> = []
    let literal = ""
    const flush = () => {
      if (literal !== "") parts.push(literal.normalize("NFC"))
      literal = ""
    }
    if (++this.#depth > maxDepth) this.isBroken = true
    let atLineStart = heredoc !== undefined
    while (!this.isBroken) {
      const end = heredoc !== undefined && atLineStart ? this.#endOf(heredoc) : undefined
      if (end !== undefined) {
        this.at = end
        break
      }
      const char = this.text[this.at]
      if (char === undefined || (char === "\n" && heredoc === undefined)) {
        this.isBroken = true
        break
      }
      atLineStart = char === "\n"
      if (char === "\n") this.line++
      if (heredoc === undefined && char === '"') {
        this.at++
        break
      }
      if (heredoc === undefined && char === "\\") {
        literal += this.#escape()
        continue
      }
      const start = this.at
      if (stepTemplate(this)) {
        flush()
        parts.push(this.tokens(true))
      } else literal += this.at - start === 3 ? `${char}{` : char
    }
    flush()
    this.#depth--
    return parts
  }
}

/** Returns the tokens of a file in HCL syntax, or `undefined` if its brackets are not balanced. */
export const configTokens = (text: string): ReadonlyArray<ConfigToken> | undefined => {
  const tokenizer = new Tokenizer(text)
  const tokens = tokenizer.tokens(false)
  return tokenizer.isBroken ? undefined : tokens
}
