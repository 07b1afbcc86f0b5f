import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem, Layer } from "effect"
import { RowChecks } from "../../actors/base/database/Table.ts"
import * as Database from "../../src/database/Database.ts"
import { DataFolder } from "../../src/database/DataFolder.ts"
import { placeMigratedDatabase } from "./MigratedDatabase.ts"

const temporaryFolder = Layer.unwrap(
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped({ prefix: "svc-test-" })
    yield* placeMigratedDatabase(folder)
    return DataFolder.layer(folder)
  })
)

/**
 * A migrated database in a temporary data folder, with the platform services. Every row that is read is checked against its
 * model.
 */
export const testDatabase = Database.layer.pipe(
  Layer.provideMerge(temporaryFolder),
  Layer.merge(Layer.succeed(RowChecks, true)),
  Layer.provideMerge(NodeServices.layer)
)
