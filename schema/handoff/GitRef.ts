import { Schema } from "effect"
import { fieldRule, lengthBetween } from "../manifest/FieldRule.ts"
import { hasControlCharacter } from "../manifest/TextRules.ts"

const forbiddenSigns = /[\s~^:?*[\\]/
const isComponent = (component: string) =>
  component !== "" && !component.startsWith(".") && !component.endsWith(".lock")

/**
 * A branch, tag or commit as `git check-ref-format --allow-onelevel` accepts it. It never begins with `-`, so no
 * program can take it for an option, and it holds none of the signs of revision syntax.
 */
export const isGitRef = (ref: string): boolean =>
  ref !== "@" &&
  !ref.startsWith("-") &&
  !ref.endsWith(".") &&
  !ref.includes("..") &&
  !ref.includes("@{") &&
  !forbiddenSigns.test(ref) &&
  !hasControlCharacter(ref) &&
  ref.normalize("NFC") === ref &&
  ref.split("/").every(isComponent)

export const GitRef = Schema.String.check(
  lengthBetween(1, 255),
  fieldRule({
    code: "invalid_pattern",
    expected: "a branch, tag or commit such as main, v1.2.0 or a full commit id",
    holds: isGitRef,
    published: { pattern: "^[^\\s~^:?*\\[\\\\-][^\\s~^:?*\\[\\\\]*$" }
  })
)
