import { identifierAt } from "./Identifier.ts"

/** The position of a failure, and the reason for it. Lines are counted from 1. */
export class OutlineFault {
  readonly code: "hcl_syntax" | "nesting_too_deep"
  readonly line: number
  readonly message: string
  constructor(code: OutlineFault["code"], line: number, message: string) {
    this.code = code
    this.line = line
    this.message = message
  }
}

/** The position in the text of a file. The functions that read the text move the position forward. */
export interface Cursor {
  readonly text: string
  at: number
  line: number
}

type Mode =
  | { readonly kind: "bracket"; readonly close: ")" | "]" | "}" }
  | { readonly kind: "string" }
  | { readonly kind: "heredoc"; readonly marker: string; atLineStart: boolean }

const closing = { "(": ")", "[": "]", "{": "}" } as const

/** Skips a comment at the cursor, but not the end of the line after a line comment. */
export const skipComment = (cursor: Cursor): "skipped" | "none" | "unclosed" => {
  const { text, at } = cursor
  if (text[at] === "#" || text.startsWith("//", at)) {
    const end = text.indexOf("\n", at)
    cursor.at = end === -1 ? text.length : end
    return "skipped"
  }
  if (!text.startsWith("/*", at)) return "none"
  const end = text.indexOf("*/", at + 2)
  if (end === -1) return "unclosed"
  for (let next = text.indexOf("\n", at); next !== -1 && next < end; next = text.indexOf("\n", next + 1)) cursor.line++
  cursor.at = end + 2
  return "skipped"
}

/** Returns the marker of the heredoc that opens at the cursor, and skips the opening line. */
export const heredocMarker = (cursor: Cursor): string | undefined => {
  const { text } = cursor
  if (!text.startsWith("<<", cursor.at)) return undefined
  identifierAt.lastIndex = cursor.at + (text[cursor.at + 2] === "-" ? 3 : 2)
  const marker = identifierAt.exec(text)?.[0]
  if (marker === undefined) return undefined
  const end = identifierAt.lastIndex
  const next = text.startsWith("\r\n", end) ? end + 2 : text[end] === "\n" ? end + 1 : undefined
  if (next === undefined) return undefined
  cursor.at = next
  cursor.line++
  return marker
}

/**
 * Skips one unit of literal text: an escaped template marker, the opening of a template, or a character. Returns true if
 * that unit opens a template.
 */
export const stepTemplate = (cursor: Cursor): boolean => {
  const { text, at } = cursor
  const sign = text[at]
  if (sign === "$" || sign === "%") {
    if (text[at + 1] === sign && text[at + 2] === "{") {
      cursor.at += 3
      return false
    }
    if (text[at + 1] === "{") {
      cursor.at += 2
      return true
    }
  }
  cursor.at++
  return false
}

/**
 * Skips an expression, up to the end of the line or the brace that closes the enclosing block. Recognises only strings,
 * templates, heredocs, comments and brackets; the parser decides whether the expression is valid.
 */
export const skipExpression = (cursor: Cursor, maxNesting: number): OutlineFault | undefined => {
  const { text } = cursor
  const modes: Array<Mode> = []
  const fault = (message: string) => new OutlineFault("hcl_syntax", cursor.line, message)
  while (cursor.at < text.length) {
    if (modes.length > maxNesting)
      return new OutlineFault("nesting_too_deep", cursor.line, `Brackets are nested deeper than ${maxNesting} levels.`)
    const mode = modes.at(-1)
    const char = text[cursor.at]
    if (mode?.kind === "heredoc") {
      if (mode.atLineStart) {
        const end = text.indexOf("\n", cursor.at)
        if (end === -1) return fault(`The heredoc ${mode.marker} is not closed.`)
        if (text.slice(cursor.at, end).trim() === mode.marker) {
          modes.pop()
          cursor.at = end
          continue
        }
        mode.atLineStart = false
      }
      if (char === "\n") {
        mode.atLineStart = true
        cursor.line++
        cursor.at++
      } else if (stepTemplate(cursor)) modes.push({ kind: "bracket", close: "}" })
      continue
    }
    if (mode?.kind === "string") {
      if (char === "\n") return fault("A quoted string does not end on its line.")
      if (char === '"') {
        modes.pop()
        cursor.at++
      } else if (char === "\\") cursor.at += 2
      else if (stepTemplate(cursor)) modes.push({ kind: "bracket", close: "}" })
      continue
    }
    if (char === "\n") {
      if (mode === undefined) return undefined
      cursor.line++
      cursor.at++
      continue
    }
    if (char === "}" && mode === undefined) return undefined
    if (char === '"') {
      modes.push({ kind: "string" })
      cursor.at++
    } else if (char === "(" || char === "[" || char === "{") {
      modes.push({ kind: "bracket", close: closing[char] })
      cursor.at++
    } else if (char === ")" || char === "]" || char === "}") {
      if (mode?.close !== char) return fault(`An unexpected ${char} was found.`)
      modes.pop()
      cursor.at++
    } else if (char === "#" || char === "/") {
      const comment = skipComment(cursor)
      if (comment === "unclosed") return fault("A comment is not closed.")
      if (comment === "none") cursor.at++
    } else if (char === "<") {
      const marker = heredocMarker(cursor)
      if (marker === undefined) cursor.at++
      else modes.push({ kind: "heredoc", marker, atLineStart: true })
    } else cursor.at++
  }
  return modes.length === 0 ? undefined : fault("An expression does not end before the end of the file.")
}
