import { Result } from "effect"
import { type Cursor, OutlineFault, skipComment, skipExpression } from "./HclExpression.ts"
import { identifierAt } from "./Identifier.ts"

/** The arguments in a body, each with its first line, and the blocks in the body. */
export interface OutlineBody {
  readonly attributes: Map<string, number>
  readonly blocks: Array<OutlineBlock>
}

/**
 * The header of a block. `labels` contains the text between the quotes. Escapes are not decoded, because valid names contain
 * none.
 */
export interface OutlineBlock extends OutlineBody {
  readonly type: string
  readonly labels: ReadonlyArray<string>
  readonly line: number
}

const isBlank = (char: string | undefined) => char === " " || char === "\t" || char === "\r"

/** Skips whitespace and comments within a line. */
const skipBlanks = (cursor: Cursor): OutlineFault | undefined => {
  for (;;) {
    while (isBlank(cursor.text[cursor.at])) cursor.at++
    const comment = skipComment(cursor)
    if (comment === "unclosed") return new OutlineFault("hcl_syntax", cursor.line, "A comment is not closed.")
    if (comment === "none") return undefined
  }
}

const readIdentifier = (cursor: Cursor): string | undefined => {
  identifierAt.lastIndex = cursor.at
  const name = identifierAt.exec(cursor.text)?.[0]
  if (name !== undefined) cursor.at += name.length
  return name
}

/**
 * Reads a quoted label and returns it without its quotes. Returns `undefined` if the label does not end on the same line.
 */
const readQuotedLabel = (cursor: Cursor): string | undefined => {
  const start = cursor.at + 1
  let end = start
  while (end < cursor.text.length && cursor.text[end] !== '"' && cursor.text[end] !== "\n") {
    end += cursor.text[end] === "\\" ? 2 : 1
  }
  if (cursor.text[end] !== '"') return undefined
  cursor.at = end + 1
  return cursor.text.slice(start, end)
}

/** Reads the part of an item that follows its first name: an argument, or the labels of a block. */
const readHeader = (cursor: Cursor): "argument" | ReadonlyArray<string> | OutlineFault => {
  const labels: Array<string> = []
  for (;;) {
    const fault = skipBlanks(cursor)
    if (fault !== undefined) return fault
    const char = cursor.text[cursor.at]
    if (char === "{") {
      cursor.at++
      return labels
    }
    if (char === "=" && labels.length === 0) {
      cursor.at++
      return "argument"
    }
    const label = char === '"' ? readQuotedLabel(cursor) : readIdentifier(cursor)
    if (label === undefined) {
      return new OutlineFault(
        "hcl_syntax",
        cursor.line,
        "An argument needs an equals sign, a block needs a brace on the line of its name."
      )
    }
    labels.push(label)
  }
}

/**
 * Reads the headers of all blocks and arguments of a file, with their line numbers. The parser's result contains no line
 * numbers, and omits any block that is hidden by an argument of the same name. Also limits the nesting before the parser
 * gets the file. Does not recurse, and takes time linear in the length of the text.
 */
export const readOutline = (text: string, maxNesting: number): Result.Result<OutlineBody, OutlineFault> => {
  const cursor: Cursor = { text, at: 0, line: 1 }
  const root: OutlineBody = { attributes: new Map(), blocks: [] }
  const open: Array<OutlineBody> = [root]
  const fail = (line: number, message: string) => Result.fail(new OutlineFault("hcl_syntax", line, message))
  for (;;) {
    const blank = skipBlanks(cursor)
    if (blank !== undefined) return Result.fail(blank)
    const body = open.at(-1)
    if (body === undefined) return fail(cursor.line, "An unexpected } was found.")
    const char = text[cursor.at]
    if (char === undefined) {
      return open.length === 1
        ? Result.succeed(root)
        : fail(cursor.line, "A block is not closed before the end of the file.")
    }
    if (char === "\n") {
      cursor.at++
      cursor.line++
      continue
    }
    if (char === "}") {
      cursor.at++
      open.pop()
      continue
    }
    const { line } = cursor
    const name = readIdentifier(cursor)
    if (name === undefined) return fail(line, "An argument or block is expected here.")
    const header = readHeader(cursor)
    if (header instanceof OutlineFault) return Result.fail(header)
    if (header === "argument") {
      if (!body.attributes.has(name)) body.attributes.set(name, line)
      const fault = skipExpression(cursor, maxNesting - open.length + 1)
      if (fault !== undefined) return Result.fail(fault)
      continue
    }
    const block: OutlineBlock = { type: name, labels: header, line, attributes: new Map(), blocks: [] }
    body.blocks.push(block)
    open.push(block)
    if (open.length - 1 > maxNesting) {
      return Result.fail(
        new OutlineFault("nesting_too_deep", line, `Blocks are nested deeper than ${maxNesting} levels.`)
      )
    }
  }
}
