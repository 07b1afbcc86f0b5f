import { hasControlCharacter } from "./ControlCharacters.ts"

const drivePrefix = /^[A-Za-z]:/
/** A segment or separator hidden by percent-encoding would change the path's meaning if anything ever decoded it. */
const encodedSeparator = /%(?:00|2[ef]|5c)/i

export const maxPathCharacters = 1024

const isPlainSegment = (segment: string) => segment !== "" && segment !== "." && segment !== ".."

/**
 * A path below a root, as a commit may contain it: segments joined by single `/`, none of them empty, `.` or `..`; no backslash,
 * drive prefix or control character, and no leading white space.
 */
export const isRepositoryPath = (path: string): boolean =>
  path.trimStart() === path &&
  Array.from(path).length <= maxPathCharacters &&
  !path.includes("\\") &&
  !/\p{Cc}/u.test(path) &&
  !drivePrefix.test(path) &&
  path.split("/").every(isPlainSegment)

/**
 * A path below a root with exactly one spelling, so that it can be compared with a scanned path as a string: no leading or
 * trailing white space, no percent-encoded separator, and in Unicode normal form C.
 */
export const isCanonicalRelativePath = (path: string): boolean =>
  isRepositoryPath(path) &&
  path.normalize("NFC") === path &&
  !encodedSeparator.test(path) &&
  !hasControlCharacter(path) &&
  path.trim() === path
