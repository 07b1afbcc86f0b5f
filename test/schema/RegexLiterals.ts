export interface RegexLiteral {
  readonly source: string
  readonly flags: string
}

/** A slash begins a regular expression after any of these tokens, and is a division otherwise. */
const beforeLiteral = /(?:^|[([{,;:=!&|?+\-*%<>~^]|=>|\breturn|\btypeof|\bcase|\bin|\bof)\s*$/

const literalAt = (code: string, start: number): RegexLiteral & { readonly end: number } => {
  let inClass = false
  let at = start + 1
  while (at < code.length && (inClass || code[at] !== "/")) {
    if (code[at] === "\\") at++
    else if (code[at] === "[") inClass = true
    else if (code[at] === "]") inClass = false
    at++
  }
  const flags = /^[a-z]*/.exec(code.slice(at + 1))?.[0] ?? ""
  return { source: code.slice(start + 1, at), flags, end: at + 1 + flags.length }
}

const endOfQuoted = (code: string, start: number): number => {
  let at = start + 1
  while (at < code.length && code[at] !== code[start]) at += code[at] === "\\" ? 2 : 1
  return at + 1
}

/** Reads a template from its opening backtick. `${}` contains nested code. */
const endOfTemplate = (code: string, start: number, found: Array<RegexLiteral>): number => {
  let at = start + 1
  while (at < code.length && code[at] !== "`") {
    if (code.startsWith("${", at)) at = endOfCode(code, at + 2, found)
    else at += code[at] === "\\" ? 2 : 1
  }
  return at + 1
}

/** Reads code up to its closing bracket, or to the end. */
const endOfCode = (code: string, start: number, found: Array<RegexLiteral>): number => {
  let at = start
  let open = 0
  while (at < code.length) {
    const sign = code[at]
    if (code.startsWith("//", at) || (at === 0 && code.startsWith("#!"))) {
      const end = code.indexOf("\n", at)
      at = end === -1 ? code.length : end
    } else if (code.startsWith("/*", at)) {
      at = code.indexOf("*/", at) + 2
    } else if (sign === '"' || sign === "'") {
      at = endOfQuoted(code, at)
    } else if (sign === "`") {
      at = endOfTemplate(code, at, found)
    } else if (sign === "/" && beforeLiteral.test(code.slice(Math.max(0, at - 40), at))) {
      const { end, ...literal } = literalAt(code, at)
      found.push(literal)
      at = end
    } else {
      if (sign === "{") open++
      if (sign === "}" && open-- === 0) return at + 1
      at++
    }
  }
  return at
}

/** Finds the regular expression literals in TypeScript source, and skips strings, template strings and comments. */
export const regexLiterals = (code: string): ReadonlyArray<RegexLiteral> => {
  const found: Array<RegexLiteral> = []
  endOfCode(code, 0, found)
  return found
}
