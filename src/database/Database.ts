import { Effect, type FileSystem, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import type { Commits } from "../../actors/database/Commits.ts"
import type { ReadSql } from "../../actors/database/ReadSql.ts"
import type { SqliteMaintenance } from "../../actors/database/SqliteMaintenance.ts"
import { checkDatabase, namingDamage } from "./DatabaseCheck.ts"
import { DataFolder } from "./DataFolder.ts"
import { migrate } from "./Migrations.ts"
import { layerReader, layerWriter } from "./SqliteClient.ts"

const layerOf = (file: string) => {
  const checked = Layer.effectDiscard(Effect.andThen(checkDatabase(file), migrate)).pipe(
    Layer.provideMerge(layerWriter(file))
  )
  // A file with a damaged head is refused as soon as it is opened, any other at the check.
  const migrated = Layer.effectContext(Effect.mapError(Layer.build(checked), namingDamage(file)))
  // The reader opens after the writer has created the file in WAL mode with its tables.
  return Layer.provideMerge(layerReader(file), migrated)
}

/** The one database of the data folder, migrated: one writer, read-only readers. */
export const layer: Layer.Layer<
  SqlClient.SqlClient | ReadSql | SqliteMaintenance | Commits,
  Layer.Error<ReturnType<typeof layerOf>>,
  DataFolder | FileSystem.FileSystem
> = Layer.unwrap(Effect.map(DataFolder, (folder) => layerOf(folder.databaseFile)))
