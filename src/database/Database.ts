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
  // A file with a damaged header is refused on opening, any other damaged file by the check.
  const migrated = Layer.effectContext(
    Effect.andThen(admitDatabase(folder), Effect.mapError(Layer.build(checked), namingDamage(file)))
  )
  // The reader opens after the writer has created the file in WAL mode with its tables.
  return Layer.provideMerge(Layer.mergeAll(layerReader(file), databasePresence(file), storageSpace(folder)), migrated)
}

/**
 * The one database of the data folder, migrated: one writer, read-only readers. A folder whose database has vanished, or has been
 * replaced by another installation's, is refused.
 */
export const layer: Layer.Layer<
  SqlClient.SqlClient | ReadSql | DatabaseFile | Commits,
  Layer.Error<ReturnType<typeof layerOf>>,
  DataFolder | FileSystem.FileSystem | Path.Path
> = Layer.unwrap(Effect.map(DataFolder, (folder) => layerOf(folder.path, folder.databaseFile)))
