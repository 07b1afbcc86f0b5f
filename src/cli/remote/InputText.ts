import { Effect, FileSystem, Stdio, Stream } from "effect"
import { containsRoundedNumber } from "../../../schema/json/ExactNumbers.ts"
import { CommandFailed } from "../Output.ts"

/** The contents of a file, or of standard input. */
export const inputText = Effect.fn("inputText")(function* (file: string) {
  if (file === "-") return yield* Stream.mkString(Stream.decodeText((yield* Stdio.Stdio).stdin))
  const files = yield* FileSystem.FileSystem
  return yield* files.readFileString(file)
})

/** Refuses JSON with a number that would be rounded on its way to the server. */
export const refuseRoundedNumbers = (flag: string, json: string): Effect.Effect<void, CommandFailed> =>
  containsRoundedNumber(json)
    ? Effect.fail(
        new CommandFailed({
          message: `${flag}: holds a number with more digits than JSON readers keep. Write it as a string of its digits.`
        })
      )
    : Effect.void
