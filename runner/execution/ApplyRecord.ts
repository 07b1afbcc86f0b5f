import { Effect, Option, Schema } from "effect"
import { type RunFileFailed, readOptional, replaceDurably } from "./RunFiles.ts"

/**
 * A record of the folder in which an apply runs and of the state from which it started. svc uses the record to find the
 * resulting state after a crash.
 */
export const ApplyRecord = Schema.Struct({
  version: Schema.Literal(1),
  modulePath: Schema.String,
  base: Schema.optionalKey(Schema.Struct({ lineage: Schema.String, serial: Schema.Int }))
})
export type ApplyRecord = typeof ApplyRecord.Type

const ApplyRecordText = Schema.fromJsonString(ApplyRecord)
const decode = Schema.decodeUnknownOption(ApplyRecordText)
const encode = Schema.encodeSync(ApplyRecordText)

export const writeApplyRecord = (path: string, record: ApplyRecord): Effect.Effect<void, RunFileFailed> =>
  replaceDurably(path, encode(record), "write the apply record")

/** `none` if no apply was started; `unreadable` if the record cannot be read. */
export const readApplyRecord = (
  path: string
): Effect.Effect<Option.Option<ApplyRecord | "unreadable">, RunFileFailed> =>
  readOptional(path, "read the apply record").pipe(
    Effect.map(
      Option.map((bytes) => Option.getOrElse(decode(new TextDecoder().decode(bytes)), () => "unreadable" as const))
    )
  )
