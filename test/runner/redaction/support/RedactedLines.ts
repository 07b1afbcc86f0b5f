import { Effect, Stream } from "effect"
import { textReader } from "../../../../runner/redaction/LogLines.ts"
import type { RunRedactor } from "../../../../runner/redaction/RunRedactor.ts"

/** Converts complete output to log lines. */
export const redactedLines =
  (redactor: RunRedactor) =>
  <E, R>(output: Stream.Stream<Uint8Array, E, R>): Stream.Stream<string, E, R> =>
    Stream.unwrap(
      Effect.map(textReader(redactor), (reader) =>
        output.pipe(
          Stream.mapEffect(reader.push),
          Stream.concat(Stream.fromEffect(reader.end)),
          Stream.flatMap((lines) => Stream.fromIterable(lines))
        )
      )
    )
