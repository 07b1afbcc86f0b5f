import { Effect, type FileSystem, Layer, type Path } from "effect"
import type { SqlClient } from "effect/sql"
import type { Commits } from "../../actors/base/database/Commits.ts"
import type { ReadSql } from "../../actors/base/database/ReadSql.ts"
import type { DatabaseFile } from "../../actors/base/database/DatabaseFile.ts"
import { checkDatabase, namingDamage } from "./DatabaseCheck.ts"
import { databasePresence } from "./DatabasePresence.ts"
import { storageSpace } from "./StorageSpace.ts"
import { DataFolder } from "./DataFolder.ts"
import { admitDatabase, checkInstallation, settleInstallation } from "./FirstStart.ts"
import { migrate } from "./Migrations.ts"
import { layerReader, layerWriter } from "./SqliteClient.ts"

const layerOf = (folder: string, file: string) => {
  const checked = Layer.effectDiscard(
    Effect.gen(function* () {
      yield* checkDatabase(file)
      yield* checkInstallation(folder)
      yield* migrate
      yield* settleInstallation(folder)
    })
  ).pipe(Layer.provideMerge(layerWriter(file)))
  // Opening a file with a damaged header already fails here. The check finds all other damage.
  const migrated = Layer.effectContext(
    Effect.andThen(admitDatabase(folder), Effect.mapError(Layer.build(checked), namingDamage(file)))
  )
  // Open the reader after the writer has created the file with its tables in WAL mode.
  return Layer.provideMerge(Layer.mergeAll(layerReader(file), databasePresence(file), storageSpace(folder)), migrated)
}

/**
 * The data folder's only database, migrated, with one writer and read-only readers. Fails if the folder's database has
 * disappeared or belongs to another installation.
 */
export const layer: Layer.Layer<
  SqlClient.SqlClient | ReadSql | DatabaseFile | Commits,
  Layer.Error<ReturnType<typeof layerOf>>,
  DataFolder | FileSystem.FileSystem | Path.Path
> = Layer.unwrap(Effect.map(DataFolder, (folder) => layerOf(folder.path, folder.databaseFile)))
