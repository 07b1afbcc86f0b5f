import { Buffer } from "node:buffer"
import * as Redacted from "effect/Redacted"
import { stripTerminalSequences } from "./AnsiSequences.ts"
import { EscapeDecoder } from "./EscapeDecoder.ts"
import { blankClass, folded, quoteClass } from "./FoldedText.ts"
import type { Pattern, PatternKind } from "./PatternAutomaton.ts"
import { secretParts } from "./SecretParts.ts"
import { scopeOf, type Secret, shortestAnywhere, shortestToken } from "./SecretRule.ts"

const shortestLine = 12
// A longer secret is matched piece by piece, so that a stream holds back little and a truncated copy is found too.
const longestPattern = 511
const sliceLength = 256
// Minimum length of a 6-character secret after removing its blanks.
const shortestUnbroken = 4

const withoutEscapes = (bytes: Iterable<number>): ReadonlyArray<number> => {
  const found: Array<number> = []
  const decoder = new EscapeDecoder({ byte: (value) => found.push(value), skipped: () => {}, edge: () => {} })
  let position = 0
  for (const value of bytes) decoder.byte(value, position, ++position)
  decoder.edge()
  return found
}

const slices = (bytes: ReadonlyArray<number>): ReadonlyArray<ReadonlyArray<number>> => {
  if (bytes.length <= longestPattern) return [bytes]
  const count = Math.floor(bytes.length / sliceLength)
  return Array.from({ length: count }, (_, index) =>
    bytes.slice(index * sliceLength, index === count - 1 ? bytes.length : (index + 1) * sliceLength)
  )
}

/** The whole text, and each of its lines that is long enough: programs print a part of a key file as often as the whole file. */
const pieces = (text: string): ReadonlySet<string> => {
  const lines = text
    .split(/\r\n|\n|\r/)
    .map((line) => line.trim())
    .filter((line) => line.length >= shortestLine && !/^-----(BEGIN|END)/.test(line))
  return new Set([text.trim(), ...lines])
}

/** A pattern for text without line breaks or blanks; undefined if the pattern would be the same. */
const withoutBlanks = (bytes: ReadonlyArray<number>): ReadonlyArray<number> =>
  bytes.includes(blankClass) ? folded(bytes.filter((byte) => byte !== blankClass)) : []

const isDigits = (text: string) => /^\d+$/.test(text)

const kindOf = (piece: string, length: number): PatternKind => {
  if (piece.length < shortestAnywhere) return isDigits(piece) ? "number" : "token"
  return length < shortestAnywhere ? "guarded" : "anywhere"
}

/** Number of trailing characters of a text that are compared as one character. */
const lastRun = (text: string): number => {
  const run = ["+", "\"$%'\\`"].find((characters) => characters.includes(text.at(-1) ?? " "))
  if (run === undefined) return Array.from(text.slice(-2)).at(-1)?.length ?? 0
  let start = text.length
  while (start > 0 && run.includes(text.charAt(start - 1))) start--
  return text.length - start
}

const pieceSpellings = (piece: string): ReadonlyArray<Iterable<number>> => {
  const shown = stripTerminalSequences(piece)
  const texts = shown === piece ? [piece] : [piece, shown]
  // For plain ASCII, UTF-16 differs only in bytes that are ignored.
  const isAscii = Buffer.byteLength(piece) === piece.length
  return texts.flatMap((text) => {
    const bytes = Buffer.from(text)
    const wide = isAscii ? undefined : Buffer.from(text, "utf16le")
    return [bytes, withoutEscapes(bytes), ...(wide === undefined ? [] : [wide, withoutEscapes(wide)])]
  })
}

const textPatterns = (origin: string, text: string): ReadonlyArray<Pattern> => {
  if (scopeOf(text) === "none") return []
  return [...pieces(text)].flatMap((piece) =>
    pieceSpellings(piece).flatMap((bytes) => {
      const whole = folded(bytes)
      const trailing = piece.endsWith("\\") && whole.length > shortestToken
      const shapes = trailing && whole.at(-1) === quoteClass ? [whole, whole.slice(0, -1)] : [whole]
      const shown: ReadonlyArray<Pattern> = shapes.flatMap((shape) =>
        slices(shape)
          .filter((slice) => slice.length >= shortestToken)
          .map((slice) => ({
            bytes: Uint8Array.from(slice),
            kind: kindOf(piece, slice.length),
            origin,
            minSource: piece.length - lastRun(piece) + (shape === whole ? 1 : 0),
            trailing
          }))
      )
      const unbroken: ReadonlyArray<Pattern> = slices(withoutBlanks(whole))
        .filter((slice) => slice.length >= shortestUnbroken && piece.length >= shortestAnywhere)
        .map((slice) => ({
          bytes: Uint8Array.from(slice),
          kind: "unbroken",
          origin,
          // Blanks around a break reveal nothing, so they do not count.
          minSource: Math.min(slice.length, shortestAnywhere),
          trailing
        }))
      return [...shown, ...unbroken]
    })
  )
}

const bytePatterns = (origin: string, bytes: Uint8Array): ReadonlyArray<Pattern> =>
  [folded(bytes), folded(withoutEscapes(bytes))]
    .flatMap(slices)
    .filter((slice) => slice.length >= shortestAnywhere)
    .map((slice) => ({ bytes: Uint8Array.from(slice), kind: "anywhere", origin, minSource: 0, trailing: false }))

/** The patterns to search for: the parts of all secrets in their comparable form, without duplicates. */
export const secretPatterns = (secrets: Iterable<Secret>): ReadonlyArray<Pattern> => {
  const found = new Map<string, Pattern>()
  for (const { origin, value } of secrets) {
    for (const part of secretParts(Redacted.value(value))) {
      const patterns = typeof part === "string" ? textPatterns(origin, part) : bytePatterns(origin, part)
      for (const pattern of patterns) {
        const key = `${pattern.kind} ${pattern.trailing} ${Buffer.from(pattern.bytes).toString("latin1")}`
        if (!found.has(key)) found.set(key, pattern)
      }
    }
  }
  return [...found.values()]
}
