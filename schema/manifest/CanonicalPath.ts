import { hasControlCharacter } from "./ControlCharacters.ts"

const drivePrefix = /^[A-Za-z]:/
/** A segment or separator hidden by percent-encoding would change meaning if anything ever decoded the path. */
const encodedSeparator = /%(?:00|2[ef]|5c)/i

export const maxPathCharacters = 1024

const isPlainSegment = (segment: string) => segment !== "" && segment !== "." && segment !== ".."

/**
 * A canonical path below a root: segments joined by single `/`, none of them empty, `.` or `..`; no backslash, drive prefix,
 * control character, outer white space or percent-encoded separator; in Unicode normal form C. Such a path has one spelling, so
 * it can be compared with a scanned path as a string.
 */
export const isCanonicalRelativePath = (path: string): boolean =>
  path.trim() === path &&
  Array.from(path).length <= maxPathCharacters &&
  path.normalize("NFC") === path &&
  !path.includes("\\") &&
  !hasControlCharacter(path) &&
  !path.includes("\t") &&
  !path.includes("\n") &&
  !path.includes("\r") &&
  !drivePrefix.test(path) &&
  !encodedSeparator.test(path) &&
  path.split("/").every(isPlainSegment)
