import { stat, statfs } from "node:fs/promises"
import { Effect, FileSystem, Layer, type Option, Path, Schema } from "effect"
import { DataFolder, databaseName, masterKeyName } from "./DataFolder.ts"
import { networkFileSystemOf } from "./FileSystemKind.ts"

/** Facts about the path of a data folder, determined without creating or changing anything. */
export interface DataFolderInspection {
  /** Absolute path; the real path if the folder exists. */
  readonly path: string
  readonly kind: "folder" | "nothing" | "other"
  /** Type of the file system if it is a network file system. */
  readonly network: string | undefined
  /** The folder itself or, if the folder does not exist yet, its nearest existing parent. */
  readonly standing: string
  /** User id and permission bits of `standing`. */
  readonly owner: number
  readonly mode: number
  /** Number of bytes that this user can still write to the folder's file system; absent if unknown. */
  readonly free: Option.Option<number>
}

/** Raised if the path of a data folder cannot be inspected. */
export class DataFolderHidden extends Schema.TaggedError<DataFolderHidden>()("DataFolderHidden", {
  message: Schema.String
}) {}

const isMissing = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && (cause.code === "ENOENT" || cause.code === "ENOTDIR")

/** Inspects the path of a data folder without changing it. Fails with `DataFolderHidden` if permission is denied. */
export const inspectDataFolder = Effect.fn("inspectDataFolder")(function* (folder: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path

  const statusOf = (at: string) =>
    Effect.tryPromise({
      try: () =>
        stat(at).catch((cause: unknown) => {
          if (isMissing(cause)) return undefined
          throw cause
        }),
      catch: (cause) =>
        new DataFolderHidden({
          message: `${at} cannot be looked at (${cause instanceof Error ? cause.message : String(cause)}). Run this as the user of the server, or as root.`
        })
    })

  const absolute = path.resolve(folder)
  const found = yield* statusOf(absolute)
  let standing = absolute
  let status = found
  while (status === undefined && standing !== path.dirname(standing)) {
    standing = path.dirname(standing)
    status = yield* statusOf(standing)
  }
  const real = yield* Effect.orElseSucceed(files.realPath(standing), () => standing)
  const look: DataFolderInspection = {
    path: found === undefined ? absolute : real,
    kind: found === undefined ? "nothing" : found.isDirectory() ? "folder" : "other",
    network: yield* networkFileSystemOf(real),
    standing: real,
    owner: status?.uid ?? 0,
    mode: (status?.mode ?? 0) & 0o777,
    free: yield* Effect.option(
      Effect.map(
        Effect.tryPromise(() => statfs(real)),
        ({ bavail, bsize }) => bavail * bsize
      )
    )
  }
  return look
})

/** Opens the data folder for inspection, without claiming it or creating subfolders. */
export const layerInspection = (folder: string) =>
  Layer.effect(
    DataFolder,
    Effect.map(Path.Path, (path) => ({
      path: folder,
      databaseFile: path.join(folder, databaseName),
      masterKeyFile: path.join(folder, masterKeyName),
      subfolder: (name: string) => Effect.succeed(path.join(folder, name))
    }))
  )
