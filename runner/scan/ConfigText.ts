import { Result } from "effect"
import { type ConfigToken, configTokens } from "./ConfigTokens.ts"
import type { ConfigSyntax } from "./ConfigValue.ts"
import { refusal, type ScanProblem } from "./ScanProblem.ts"

const pointerStart = "version https://git-lfs.github.com/spec/"

/** Replacement for a byte that is not UTF-8. No identifier, string or operator of the language contains this character. */
const badByte = "\uFDD0"
const replacement = "\uFFFD"

/** Returns the number of bytes of the character at `at`, or 0 if the bytes are not UTF-8. */
const characterLength = (bytes: Uint8Array, at: number): number => {
  const first = bytes[at] ?? 0
  if (first < 0x80) return 1
  const length = first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0
  if (first < 0xc2 || length === 0) return 0
  const second = bytes[at + 1] ?? 0
  // Accept only the shortest form, no surrogates, and nothing beyond U+10FFFF.
  const lowest = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80
  const highest = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf
  if (second < lowest || second > highest) return 0
  for (let next = at + 2; next < at + length; next++) if (((bytes[next] ?? 0) & 0xc0) !== 0x80) return 0
  return length
}

/** Decodes the bytes as Go does, replacing each byte that is not UTF-8 with `mark`. */
const markedText = (bytes: Uint8Array, mark: string): string => {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  let text = ""
  let from = 0
  for (let at = 0; at < bytes.length; ) {
    const length = characterLength(bytes, at)
    if (length === 0) {
      text += decoder.decode(bytes.subarray(from, at)) + mark
      from = at + 1
    }
    at += Math.max(length, 1)
  }
  return text + decoder.decode(bytes.subarray(from))
}

const lineOf = (text: string, at: number) => text.slice(0, at).split("\n").length

/** Returns the first line that contains an invalid byte outside comments. */
const badLine = (tokens: ReadonlyArray<ConfigToken>): number | undefined => {
  for (const token of tokens) {
    const found =
      token.kind === "text"
        ? token.parts
            .map((part) =>
              typeof part === "string" ? (part.includes(badByte) ? token.line : undefined) : badLine(part)
            )
            .find((line) => line !== undefined)
        : token.kind !== "line-end" && token.text.includes(badByte)
          ? token.line
          : undefined
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * Accepts invalid bytes where the tools do: the tools ignore invalid bytes in a comment, and read an invalid byte in a JSON
 * string as U+FFFD. Everything else must be UTF-8.
 */
const tolerated = (bytes: Uint8Array, syntax: ConfigSyntax): Result.Result<string, ScanProblem> => {
  if (syntax === "json") return Result.succeed(markedText(bytes, replacement))
  const marked = markedText(bytes, badByte)
  const tokens = configTokens(marked)
  const line = tokens === undefined ? lineOf(marked, marked.indexOf(badByte)) : badLine(tokens)
  return line === undefined
    ? Result.succeed(marked.replaceAll(badByte, replacement))
    : Result.fail(refusal("invalid_utf8", "The line holds bytes that are not UTF-8. Save the file as UTF-8.", line))
}

/**
 * Returns the text of a configuration file, or the reason why it cannot be read. Removes a byte order mark, which, as in the
 * tools, is allowed only in HCL syntax.
 */
export const configText = (bytes: Uint8Array, syntax: ConfigSyntax): Result.Result<string, ScanProblem> => {
  const decoded = Result.orElse(
    Result.try(() => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)),
    () => tolerated(bytes, syntax)
  )
  if (Result.isFailure(decoded)) return Result.fail(decoded.failure)
  const hasMark = decoded.success.startsWith("\uFEFF")
  if (hasMark && syntax === "json") {
    return Result.fail(
      refusal(
        "byte_order_mark",
        "The file begins with a byte order mark, which no tool accepts in JSON syntax. Save it without one.",
        1
      )
    )
  }
  const text = hasMark ? decoded.success.slice(1) : decoded.success
  if (text.startsWith(pointerStart)) {
    return Result.fail(
      refusal(
        "lfs_pointer",
        "The file is a Git LFS pointer, not the configuration itself. Store configuration files in Git directly.",
        1
      )
    )
  }
  return Result.succeed(text)
}
