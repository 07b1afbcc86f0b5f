import { Argument } from "effect/cli"

export const connectionArgument = Argument.String("connection").pipe(
  Argument.withDescription("Name of the Connection, or its id")
)
