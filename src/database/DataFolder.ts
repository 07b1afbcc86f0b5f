import { Context, Effect, FileSystem, Layer, Path, Schema } from "effect"
import { networkFileSystemOf } from "./FileSystemKind.ts"
import { instanceLock } from "./InstanceLock.ts"

export const databaseName = "svc.sqlite"
export const masterKeyName = "master.key"
/** Subfolders with content-addressed files: archives of commits, and results of source builds. */
export const snapshotsName = "snapshots"
export const buildsName = "builds"

/** Raised if the data folder cannot safely contain a database. */
export class DataFolderUnusable extends Schema.TaggedError<DataFolderUnusable>()("DataFolderUnusable", {
  message: Schema.String
}) {}

/** Creates the folder with mode 0700, checks that it is on a local file system, and returns its real path. */
export const prepareDataFolder = Effect.fn("prepareDataFolder")(
  function* (folder: string) {
    const fs = yield* FileSystem.FileSystem
    yield* fs.makeDirectory(folder, { recursive: true, mode: 0o700 })
    const real = yield* fs.realPath(folder)
    const network = yield* networkFileSystemOf(real)
    if (network !== undefined) {
      return yield* new DataFolderUnusable({
        message: `The data folder ${real} is on a network file system (${network}), where a database can be damaged. Choose a folder on a local disk.`
      })
    }
    // Restrict an existing folder, which may have been open to other users.
    yield* fs.chmod(real, 0o700)
    return real
  },
  (effect, folder) =>
    Effect.catchTag(
      effect,
      "PlatformError",
      (error) =>
        new DataFolderUnusable({
          message: `The data folder ${folder} cannot be used: ${error.message}. Choose a folder that this user owns.`
        })
    )
)

/** Folder that contains everything the server stores. This process has claimed it exclusively. */
export class DataFolder extends Context.Service<
  DataFolder,
  {
    /** Real, absolute path; mode 0700. */
    readonly path: string
    readonly databaseFile: string
    readonly masterKeyFile: string
    /** Creates a subfolder with mode 0700 if it does not exist, and returns its path. */
    readonly subfolder: (name: string) => Effect.Effect<string, DataFolderUnusable>
  }
>()("svc/src/database/DataFolder") {
  /**
   * Claims `folder`, creating it if needed.
   *
   * Fails with `DataFolderUnusable` on a network file system or without permission, and with `InstanceAlreadyRunning` while
   * another process holds the lock on the folder.
   */
  static readonly layer = (folder: string) =>
    Layer.effect(
      DataFolder,
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const path = yield* Path.Path
        const real = yield* prepareDataFolder(folder)
        yield* instanceLock(real).pipe(
          Effect.catchTags({
            PlatformError: (error) =>
              new DataFolderUnusable({ message: `The data folder ${real} cannot be locked: ${error.message}.` }),
            SqlError: (error) =>
              new DataFolderUnusable({ message: `The data folder ${real} cannot be locked: ${error.message}` })
          })
        )
        return DataFolder.of({
          path: real,
          databaseFile: path.join(real, databaseName),
          masterKeyFile: path.join(real, masterKeyName),
          subfolder: Effect.fn("DataFolder.subfolder")(
            function* (name) {
              const subfolder = path.join(real, name)
              yield* fs.makeDirectory(subfolder, { recursive: true, mode: 0o700 })
              return subfolder
            },
            Effect.mapError(
              (error) => new DataFolderUnusable({ message: `A folder in ${real} cannot be created: ${error.message}.` })
            )
          )
        })
      })
    )
}
