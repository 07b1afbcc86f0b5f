import { Schema } from "effect"
import { fieldRule, lengthBetween } from "./FieldRule.ts"
import { hasControlCharacter } from "./TextRules.ts"

const drivePrefix = /^[A-Za-z]:/
/** A segment or separator hidden by percent-encoding would change meaning if anything ever decoded the path. */
const encodedSeparator = /%(?:00|2[ef]|5c)/i

const isPlainSegment = (segment: string) => segment !== "" && segment !== "." && segment !== ".."

/**
 * A canonical path below a root: segments joined by single `/`, none of them empty, `.` or `..`; no backslash, drive
 * prefix, control character, outer white space or percent-encoded separator; in Unicode normal form C. Such a path has
 * one spelling, so comparing it with a scanned path is comparing strings.
 */
export const isCanonicalRelativePath = (path: string): boolean =>
  path.trim() === path &&
  path.normalize("NFC") === path &&
  !path.includes("\\") &&
  !hasControlCharacter(path) &&
  !path.includes("\t") &&
  !path.includes("\n") &&
  !path.includes("\r") &&
  !drivePrefix.test(path) &&
  !encodedSeparator.test(path) &&
  path.split("/").every(isPlainSegment)

const maxPathCharacters = 1024

const publishedPattern = "^(?!/)(?!\\./)(?![A-Za-z]:)(?!.*//)(?!.*\\\\)(?!.*/$).+$"

/** A file or folder below the root; the root itself (`.`) is not one. */
export const RelativePath = Schema.String.check(
  lengthBetween(1, maxPathCharacters),
  fieldRule({
    code: "invalid_path",
    expected: "a canonical relative path such as modules/app, without ., .. or empty segments",
    holds: isCanonicalRelativePath,
    published: { pattern: publishedPattern }
  })
)

/** A folder below the root, or `.` for the root itself. */
export const RelativeFolder = Schema.String.check(
  lengthBetween(1, maxPathCharacters),
  fieldRule({
    code: "invalid_path",
    expected: "`.` or a canonical relative path such as modules/app, without ., .. or empty segments",
    holds: (path) => path === "." || isCanonicalRelativePath(path),
    published: { pattern: publishedPattern }
  })
)
