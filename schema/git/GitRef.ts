import { Effect, Result, Schema, SchemaIssue, SchemaTransformation } from "effect"
import { normaliseRef } from "./RefName.ts"

/** A normalised ref. Only `parseGitRef` creates one. */
export const GitRef = Schema.String.pipe(Schema.brand("GitRef"))
export type GitRef = typeof GitRef.Type

/** The default branch of a repository, whatever its name. */
export const headRef = GitRef.make("HEAD")

const problem =
  "The ref is not one Git allows. Give a branch, a tag, a full ref such as refs/heads/main, a commit of 40 hex digits, or HEAD."

/** Parses a ref that a person entered. The error does not contain the entered text. */
export const parseGitRef = (text: string): Result.Result<GitRef, string> => {
  const ref = normaliseRef(text)
  return ref === undefined ? Result.fail(problem) : Result.succeed(GitRef.make(ref))
}

/** API codec that wraps `parseGitRef`, with strings on both sides. */
export const GivenGitRef = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(255)).pipe(
  Schema.decodeTo(
    Schema.String,
    SchemaTransformation.transformEffect<string, string>({
      decode: (text) =>
        Effect.mapError(Effect.fromResult(parseGitRef(text)), (message) => new SchemaIssue.InvalidValue({ message })),
      encode: Effect.succeed
    })
  )
)
