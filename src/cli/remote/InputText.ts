import { Effect, FileSystem, type PlatformError, Stdio, Stream } from "effect"
import { containsRoundedNumber } from "../../../schema/json/ExactNumbers.ts"
import { CommandFailed, misuse } from "../Output.ts"

/** Creates the error for a file on the command line that cannot be read. */
export const unreadable = (file: string, { reason }: PlatformError.PlatformError) =>
  new CommandFailed({
    ...misuse,
    message:
      reason._tag === "NotFound"
        ? `There is no file ${file}. Check its path.`
        : `${file} cannot be read (${reason._tag}). Check its path and permissions.`
  })

/** Reads a file, or standard input. */
export const inputText = Effect.fn("inputText")(function* (file: string) {
  if (file === "-") return yield* Stream.mkString(Stream.decodeText((yield* Stdio.Stdio).stdin))
  const files = yield* FileSystem.FileSystem
  return yield* files.readFileString(file).pipe(Effect.mapError((cause) => unreadable(file, cause)))
})

/** Refuses JSON that contains a number that would be rounded before it reaches the server. */
export const refuseRoundedNumbers = (flag: string, json: string): Effect.Effect<void, CommandFailed> =>
  containsRoundedNumber(json)
    ? Effect.fail(
        new CommandFailed({
          ...misuse,
          message: `${flag}: holds a number with more digits than JSON readers keep. Write it as a string of its digits.`
        })
      )
    : Effect.void
