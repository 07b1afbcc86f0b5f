import { Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import type { ReadSql } from "../../actors/database/ReadSql.ts"
import type { SqliteMaintenance } from "../../actors/database/SqliteMaintenance.ts"
import { DataFolder } from "./DataFolder.ts"
import { migrate } from "./Migrations.ts"
import { layerReader, layerWriter } from "./SqliteClient.ts"

const layerOf = (file: string) => {
  const migrated = Layer.effectDiscard(migrate).pipe(Layer.provideMerge(layerWriter(file)))
  // The reader opens after the writer has created the file in WAL mode with its tables.
  return Layer.provideMerge(layerReader(file), migrated)
}

/** The embedded database of the data folder, with all tables of this release. */
export const layer: Layer.Layer<
  SqlClient.SqlClient | ReadSql | SqliteMaintenance,
  Layer.Error<ReturnType<typeof layerOf>>,
  DataFolder
> = Layer.unwrap(Effect.map(DataFolder, (folder) => layerOf(folder.databaseFile)))
