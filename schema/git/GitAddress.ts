import { Effect, Result, Schema, SchemaIssue, SchemaTransformation } from "effect"
import { type AddressRule, readRepositoryAddress } from "./RepositoryAddress.ts"
import { formatServerAddress, isAddress, maxAddressCharacters } from "./ServerAddress.ts"

/** A normalised repository address. Only `parseGitAddress` creates one. */
export const GitAddress = Schema.String.pipe(Schema.brand("GitAddress"))
export type GitAddress = typeof GitAddress.Type

/** Parses a repository address that a person entered. The error message completes a sentence about the address. */
export const parseGitAddress = (text: string, rule?: AddressRule): Result.Result<GitAddress, string> => {
  const address = readRepositoryAddress(text, rule)
  return isAddress(address)
    ? Result.succeed(GitAddress.make(formatServerAddress(address)))
    : Result.fail(address.problem)
}

const example = "https://git.example.com/team/repository.git"

/**
 * API codec that wraps `parseGitAddress`, with strings on both sides. The operator's policy in `runner/git` decides whether
 * Git may contact the address.
 */
export const GivenGitAddress = Schema.String.check(
  Schema.isMinLength(1),
  Schema.isMaxLength(maxAddressCharacters)
).pipe(
  Schema.decodeTo(
    Schema.String,
    SchemaTransformation.transformEffect<string, string>({
      decode: (text) =>
        Effect.mapError(
          Effect.fromResult(parseGitAddress(text)),
          (problem) => new SchemaIssue.InvalidValue({ message: `The Git URL ${problem} Write it like ${example}.` })
        ),
      encode: Effect.succeed
    })
  )
)
