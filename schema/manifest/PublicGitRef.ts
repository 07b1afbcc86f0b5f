import { Schema } from "effect"
import { normaliseRef } from "../git/RefName.ts"
import { fieldRule, lengthBetween } from "./FieldRule.ts"

/** A ref in a document, as written. */
export const PublicGitRef = Schema.String.check(
  lengthBetween(1, 255),
  fieldRule({
    code: "invalid_pattern",
    expected: "a branch, tag or commit such as main, v1.2.0 or a full commit id",
    holds: (text) => normaliseRef(text) !== undefined,
    published: { pattern: "^[^\\s~^:?*\\[\\\\-][^\\s~^:?*\\[\\\\]*$" }
  })
)
