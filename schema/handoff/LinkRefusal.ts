import { Schema } from "effect"

/** Reasons for rejecting a link. */
export const LinkProblemCode = Schema.Literals([
  "not_a_link",
  "too_long",
  "malformed_query",
  "unknown_field",
  "duplicate_field",
  "module_input",
  "missing_source",
  "two_sources",
  "missing_field",
  "missing_product",
  "missing_return_uri",
  "conflicting_field",
  "invalid_git_url",
  "invalid_source",
  "invalid_ref",
  "invalid_path",
  "invalid_name",
  "invalid_product",
  "invalid_return_uri",
  "invalid_kind"
])
export type LinkProblemCode = typeof LinkProblemCode.Type

/** A problem with a link. `path` is the name of the query field, or "" for the whole link. Never contains a value. */
export const LinkProblem = Schema.Struct({ path: Schema.String, code: LinkProblemCode, message: Schema.String })
export type LinkProblem = typeof LinkProblem.Type

/** The link was rejected because at least one field is invalid. None of its fields are used. */
export class LinkRefusal extends Schema.TaggedError<LinkRefusal>()("LinkRefusal", {
  problems: Schema.NonEmptyArray(LinkProblem)
}) {
  override get message() {
    return `The link is refused: ${this.problems.map(({ message, path }) => (path === "" ? message : `${path}: ${message}`)).join(" ")}`
  }
}
