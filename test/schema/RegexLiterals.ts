export interface RegexLiteral {
  readonly source: string
  readonly flags: string
}

/** After one of these a slash begins a regular expression; after anything else it divides. */
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

/** The regular expression literals of TypeScript source: strings, templates and comments are skipped. */
export const regexLiterals = (code: string): ReadonlyArray<RegexLiteral> => {
  const found: Array<RegexLiteral> = []
  let at = 0
  while (at < code.length) {
    const sign = code[at]
    if (code.startsWith("//", at)) {
      const end = code.indexOf("\n", at)
      at = end === -1 ? code.length : end
    } else if (code.startsWith("/*", at)) {
      at = code.indexOf("*/", at) + 2
    } else if (sign === '"' || sign === "'" || sign === "`") {
      at = endOfQuoted(code, at)
    } else if (sign === "/" && beforeLiteral.test(code.slice(Math.max(0, at - 40), at))) {
      const { end, ...literal } = literalAt(code, at)
      found.push(literal)
      at = end
    } else {
      at++
    }
  }
  return found
}
