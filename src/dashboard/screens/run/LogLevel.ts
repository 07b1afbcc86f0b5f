import { stripAnsi } from "./Ansi.ts"

export type LogLevel = "plain" | "warning" | "error"

// Tools that draw boxes put a bar before the text.
const error = /^(?:[│╷|] ?)*(?:Error: |panic: |fatal error: )/
const warning = /^(?:[│╷|] ?)*Warning: /
const continued = /^(?:[│╵|]| {2}|\t)/

/** Returns true if this line starts a diagnostic. */
export const startsDiagnostic = (text: string): boolean => error.test(stripAnsi(text))

/** The severity of a line. The indented lines after the first line of a diagnostic belong to it. */
export const levelOf = (text: string, before: LogLevel): LogLevel => {
  const plain = stripAnsi(text)
  if (error.test(plain)) return "error"
  if (warning.test(plain)) return "warning"
  return before !== "plain" && continued.test(plain) ? before : "plain"
}
