import { Result, Schema } from "effect"

/** A key or signature is not of the narrowly defined kind that is accepted, or does not verify. */
export class OpenPgpRefused extends Schema.TaggedError<OpenPgpRefused>()("OpenPgpRefused", {
  message: Schema.String
}) {}

export const refuse = (message: string): Result.Result<never, OpenPgpRefused> =>
  Result.fail(new OpenPgpRefused({ message }))
