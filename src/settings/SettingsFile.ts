import { Effect, FileSystem, Result, Schema } from "effect"
import { decodeJson } from "../../schema/json/JsonDocument.ts"
import type { JsonLimits } from "../../schema/json/JsonLimits.ts"
import { settingDefinitions } from "./SettingDefinitions.ts"
import { SettingsRefused } from "./SettingsRefused.ts"

const limits: JsonLimits = {
  maxBytes: 64 * 1024,
  maxDepth: 2,
  maxNodes: 512,
  maxKeyBytes: 128,
  maxStringBytes: 32 * 1024
}

const FileValue = Schema.Union([Schema.String, Schema.Finite, Schema.Boolean, Schema.Array(Schema.String)])
const decodeValues = Schema.decodeUnknownEffect(Schema.Record(Schema.String, FileValue))

/** The values of a settings file as strings: one JSON object whose keys are all known. Fails with `SettingsRefused`. */
export const readSettingsFile = Effect.fn("readSettingsFile")(function* (file: string) {
  const fileSystem = yield* FileSystem.FileSystem
  const refuse = (reason: string) => new SettingsRefused({ message: `The settings file ${file} ${reason}` })
  const bytes = yield* Effect.mapError(fileSystem.readFile(file), () => refuse("cannot be read."))
  const decoded = yield* Effect.fromResult(
    Result.mapError(decodeJson(bytes, limits), (refusal) => refuse(`is not valid. ${refusal.message}`))
  )
  const values = yield* Effect.mapError(decodeValues(decoded), () =>
    refuse("is not an object whose values are strings, numbers, booleans or lists of strings.")
  )
  const unknown = Object.keys(values).filter((key) => !Object.hasOwn(settingDefinitions, key))
  if (unknown.length > 0) {
    return yield* refuse(
      `names unknown settings: ${unknown.join(", ")}. Known are ${Object.keys(settingDefinitions).join(", ")}.`
    )
  }
  return new Map(
    Object.entries(values).map(([key, value]) => [key, typeof value === "object" ? value.join(",") : String(value)])
  )
})
