import { Argument } from "effect/cli"

export const capsuleArgument = Argument.String("capsule").pipe(
  Argument.withDescription("Name of the Capsule, name/environment, or its id")
)
