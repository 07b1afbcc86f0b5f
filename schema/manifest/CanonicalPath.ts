import { hasControlCharacter } from "./ControlCharacters.ts"

const drivePrefix = /^[A-Za-z]:/
/** A segment or separator hidden by percent-encoding would change meaning if anything ever decoded the path. */
const encodedSeparator = /%(?:00|2[ef]|5c)/i

export const maxPathCharacters = 1024

const isPlainSegment = (segment: string) => segment !== "" && segment !== "." && segment !== ".."

/**
 * A path below a root, as a commit may hold it: segments joined by single `/`, none of them empty, `.` or `..`; no backslash, drive prefix
 * or control character, and no white space at its start.
 */
export const isRepositoryPath = (path: string): boolean =>
  path.trimStart() === path &&
  Array.from(path).length <= maxPathCharacters &&
  !path.includes("\\") &&
  !/\p{Cc}/u.test(path) &&
  !drivePrefix.test(path) &&
  path.split("/").every(isPlainSegment)

/**
 * A path below a root with one spelling, so that it can be compared with a scanned path as a string: neither outer white space nor a
 * percent-encoded separator, and in Unicode normal form C.
 */
export const isCanonicalRelativePath = (path: string): boolean =>
  isRepositoryPath(path) &&
  path.normalize("NFC") === path &&
  !encodedSeparator.test(path) &&
  !hasControlCharacter(path) &&
  path.trim() === path
