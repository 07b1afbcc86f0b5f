import { Effect, FileSystem, Stdio, Stream } from "effect"

/** The contents of a file, or of standard input. */
export const inputText = Effect.fn("inputText")(function* (file: string) {
  if (file === "-") return yield* Stream.mkString(Stream.decodeText((yield* Stdio.Stdio).stdin))
  const files = yield* FileSystem.FileSystem
  return yield* files.readFileString(file)
})
