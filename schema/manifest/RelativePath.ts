import { Schema } from "effect"
import { isCanonicalRelativePath, isRepositoryPath, maxPathCharacters } from "./CanonicalPath.ts"
import { fieldRule, lengthBetween } from "./FieldRule.ts"

const publishedPattern = "^(?!/)(?!\\./)(?![A-Za-z]:)(?!.*//)(?!.*\\\\)(?!.*/$).+$"

/** Path of a file or folder below the root. Excludes the root itself (`.`). */
export const RelativePath = Schema.String.check(
  lengthBetween(1, maxPathCharacters),
  fieldRule({
    code: "invalid_path",
    expected: "a canonical relative path such as modules/app, without ., .. or empty segments",
    holds: isCanonicalRelativePath,
    published: { pattern: publishedPattern }
  })
)

/** A folder below the root, or `.` for the root. */
export const RelativeFolder = Schema.String.check(
  lengthBetween(1, maxPathCharacters),
  fieldRule({
    code: "invalid_path",
    expected: "`.` or a canonical relative path such as modules/app, without ., .. or empty segments",
    holds: (path) => path === "." || isCanonicalRelativePath(path),
    published: { pattern: publishedPattern }
  })
)

/**
 * A folder in a repository, spelled as in the commit, or `.` for the repository's root. A manifest accepts only some of
 * these paths.
 */
export const RepositoryFolder = Schema.String.check(
  lengthBetween(1, maxPathCharacters),
  fieldRule({
    code: "invalid_path",
    expected: "`.` or a relative path such as modules/app, without ., .. or empty segments",
    holds: (path) => path === "." || isRepositoryPath(path),
    published: { pattern: publishedPattern }
  })
)
