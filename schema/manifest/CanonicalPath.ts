import { hasControlCharacter } from "./ControlCharacters.ts"

const drivePrefix = /^[A-Za-z]:/
/** Matches percent-encoded separators and segments. Decoding them would change the meaning of the path. */
const encodedSeparator = /%(?:00|2[ef]|5c)/i

export const maxPathCharacters = 1024

const isPlainSegment = (segment: string) => segment !== "" && segment !== "." && segment !== ".."

/**
 * Returns true for a path that a commit may contain below its root: segments joined by single `/`, none of them empty, `.` or
 * `..`; no backslash, drive prefix or control character; no leading whitespace.
 */
export const isRepositoryPath = (path: string): boolean =>
  path.trimStart() === path &&
  Array.from(path).length <= maxPathCharacters &&
  !path.includes("\\") &&
  !/\p{Cc}/u.test(path) &&
  !drivePrefix.test(path) &&
  path.split("/").every(isPlainSegment)

/**
 * Returns true for a path with only one spelling, so that it can be compared with a scanned path as a string: no leading or
 * trailing whitespace, no percent-encoded separator, and Unicode normal form C.
 */
export const isCanonicalRelativePath = (path: string): boolean =>
  isRepositoryPath(path) &&
  path.normalize("NFC") === path &&
  !encodedSeparator.test(path) &&
  !hasControlCharacter(path) &&
  path.trim() === path
