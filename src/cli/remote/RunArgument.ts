import { Argument } from "effect/cli"

export const runArgument = Argument.String("run").pipe(
  Argument.withDescription("Id of the Run, or the name of a Capsule for its newest Run")
)
