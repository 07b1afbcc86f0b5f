import { Effect, FileSystem, Layer } from "effect"
import { FirstKeys } from "../../actors/identity/FirstKeys.ts"
import { DataFolder } from "../database/DataFolder.ts"

/** On a data folder without a database, the issuer's keys are made while the database and everything over it is. */
export const firstKeys = Layer.unwrap(
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const { databaseFile } = yield* DataFolder
    const isKnown = yield* Effect.orElseSucceed(files.exists(databaseFile), () => true)
    return isKnown ? Layer.empty : FirstKeys.layerNewDatabase
  })
)
