import { Cache, Clock, Context, Duration, Effect, FileSystem, Layer, Option, type Scope, Stream } from "effect"
import { randomUUID } from "node:crypto"
import type { IndexedFile } from "./ArchiveIndex.ts"
import { holdArchive, isSameFile, type OpenedArchive, openArchive, readArchiveFile } from "./ArchiveReader.ts"
import { SnapshotDamaged, SnapshotMissing, SnapshotStorageFailed } from "./SnapshotError.ts"
import { snapshotFileName } from "./SnapshotFileName.ts"
import { SourceFileUnreadable, type SourceTree } from "./SourceTree.ts"

/** A file in a snapshot, with its bytes. */
export interface StoredFile {
  readonly path: string
  readonly executable: boolean
  readonly bytes: Uint8Array
}

/** Digests of the archives that a cleanup removed. */
export interface RemovedSnapshots {
  readonly temporaryFolders: number
  readonly archives: number
}

export interface SnapshotStoreOptions {
  /** Folder of the archives, created with mode 0700. Only one process may use it. */
  readonly folder: string
  /**
   * Minimum age at which an archive may be removed; one day by default. A younger archive may be needed by a record that has
   * not been written yet.
   */
  readonly orphanGrace?: Duration.Duration
}

type ReadFailure = SnapshotMissing | SnapshotDamaged

const temporaryName = "tmp"
const openedAtOnce = 32
const filesWrittenAtOnce = 4
const shardName = /^[0-9a-f]{2}$/
const archiveFile = /^([0-9a-f]{64})\.tar\.zst$/

const missing = (archiveDigest: string) =>
  new SnapshotMissing({ archiveDigest, message: "The snapshot is not stored here any more. Sync the Source again." })

const storageFailed = (what: string) => () =>
  new SnapshotStorageFailed({ message: `${what} Check the data folder's permissions and free space.` })

/**
 * Stores each snapshot archive once, under its digest. An archive is either complete or absent, because the store writes a
 * temporary file, flushes it and then renames it.
 */
export class SnapshotStore extends Context.Service<
  SnapshotStore,
  {
    /** Opens the tree of a snapshot. Reads and verifies the archive on first use. */
    readonly open: (archiveDigest: string) => Effect.Effect<SourceTree, ReadFailure>
    /** Returns a digest for each file, computed from the file's bytes and executable bit. */
    readonly digests: (archiveDigest: string) => Effect.Effect<ReadonlyMap<string, string>, ReadFailure>
    /** Streams all files with their verified bytes, in archive order. Keeps only one file in memory at a time. */
    readonly files: (archiveDigest: string) => Stream.Stream<StoredFile, ReadFailure>
    /**
     * Writes the regular files to the folder `target`, which must be missing or empty. Creates a missing folder with mode
     * 0700.
     */
    readonly extract: (
      archiveDigest: string,
      target: string
    ) => Effect.Effect<void, ReadFailure | SnapshotStorageFailed>
    /** Removes orphaned temporary folders, and archives that are old enough and not in `keep` (digests `sha256:...`). */
    readonly cleanUp: (keep: ReadonlySet<string>) => Effect.Effect<RemovedSnapshots, SnapshotStorageFailed>
    /** Creates a folder on the file system of the archives, and removes it when the scope closes. */
    readonly temporaryFolder: Effect.Effect<string, SnapshotStorageFailed, Scope.Scope>
    /**
     * Returns the path of a stored archive, so that it can be sent to another machine, which checks the archive's digest.
     * Returns `none` if this store does not have the archive.
     */
    readonly archive: (archiveDigest: string) => Effect.Effect<Option.Option<string>>
    /** Moves a complete archive that is already on disk into the store. */
    readonly adopt: (file: string, archiveDigest: string) => Effect.Effect<void, SnapshotStorageFailed>
  }
>()("svc/runner/snapshot/SnapshotStore") {
  static readonly layer = (
    options: SnapshotStoreOptions
  ): Layer.Layer<SnapshotStore, SnapshotStorageFailed, FileSystem.FileSystem> =>
    Layer.effect(SnapshotStore, makeStore(options))
}

const makeStore = Effect.fnUntraced(function* (options: SnapshotStoreOptions) {
  const fileSystem = yield* FileSystem.FileSystem
  const { folder } = options
  const grace = Duration.toMillis(options.orphanGrace ?? Duration.days(1))
  const temporary = `${folder}/${temporaryName}`
  const live = new Set<string>()

  const prepared = fileSystem
    .makeDirectory(temporary, { recursive: true, mode: 0o700 })
    .pipe(
      Effect.andThen(fileSystem.chmod(folder, 0o700)),
      Effect.mapError(storageFailed("The snapshot folder could not be created."))
    )
  yield* prepared

  const pathOf = (archiveDigest: string) => {
    const name = snapshotFileName(archiveDigest)
    return name === undefined ? undefined : `${folder}/${name}`
  }

  const openByDigest = Effect.fnUntraced(function* (
    archiveDigest: string
  ): Effect.fn.Return<OpenedArchive, ReadFailure> {
    const path = pathOf(archiveDigest)
    if (path === undefined) return yield* missing(archiveDigest)
    const exists = yield* fileSystem.exists(path).pipe(Effect.orElseSucceed(() => false))
    if (!exists) return yield* missing(archiveDigest)
    return yield* openArchive(path, archiveDigest).pipe(
      Effect.provideService(FileSystem.FileSystem, fileSystem),
      Effect.mapError(
        (reason) =>
          new SnapshotDamaged({
            archiveDigest,
            message: `The stored snapshot is damaged (${reason}). Sync the Source again.`
          })
      )
    )
  })

  // Do not cache failures, because a damaged or missing archive may be stored again.
  const opened = yield* Cache.makeWith(openByDigest, {
    capacity: openedAtOnce,
    timeToLive: (exit) => (exit._tag === "Success" ? Duration.infinity : Duration.zero)
  })

  /** Opens an archive. Reads and verifies the archive again if its file was removed or replaced since the last read. */
  const openedNow = Effect.fnUntraced(function* (archiveDigest: string) {
    const archive = yield* Cache.get(opened, archiveDigest)
    const present = yield* Effect.option(fileSystem.stat(archive.path))
    if (Option.exists(present, (info) => isSameFile(archive.written, info))) return archive
    yield* Cache.invalidate(opened, archiveDigest)
    return yield* Cache.get(opened, archiveDigest)
  })

  const read = (archive: OpenedArchive, file: IndexedFile) =>
    readArchiveFile(archive, file).pipe(
      Effect.provideService(FileSystem.FileSystem, fileSystem),
      Effect.mapError((reason) => new SourceFileUnreadable({ path: file.path, message: `${file.path}: ${reason}.` }))
    )

  const open = Effect.fn("SnapshotStore.open")(function* (
    archiveDigest: string
  ): Effect.fn.Return<SourceTree, ReadFailure> {
    const archive = yield* openedNow(archiveDigest)
    const byPath = new Map(archive.index.files.map((file) => [file.path, file]))
    return {
      files: archive.index.files.map(({ path, sizeBytes, executable }) => ({ path, sizeBytes, executable })),
      omitted: archive.index.omitted.map(({ path, kind }) => ({ path, kind })),
      read: (path) => {
        const file = byPath.get(path)
        return file === undefined
          ? Effect.fail(new SourceFileUnreadable({ path, message: `${path} is not a file of the snapshot.` }))
          : read(archive, file)
      }
    }
  })

  const digests = Effect.fn("SnapshotStore.digests")(function* (
    archiveDigest: string
  ): Effect.fn.Return<ReadonlyMap<string, string>, ReadFailure> {
    const archive = yield* openedNow(archiveDigest)
    return new Map(
      archive.index.files.map(({ executable, path, sha256 }) => [path, `${executable ? "x" : "-"}${sha256}`])
    )
  })

  const damaged = (archiveDigest: string) => (message: string) =>
    new SnapshotDamaged({ archiveDigest, message: `The stored snapshot is damaged. ${message}` })

  const files = (archiveDigest: string): Stream.Stream<StoredFile, ReadFailure> =>
    Stream.unwrap(
      Effect.gen(function* () {
        const archive = yield* openedNow(archiveDigest)
        const fault = damaged(archiveDigest)
        const readFile = yield* holdArchive(archive).pipe(
          Effect.provideService(FileSystem.FileSystem, fileSystem),
          Effect.mapError((reason) => fault(`${reason}.`))
        )
        return Stream.fromIterable(archive.index.files).pipe(
          Stream.mapEffect((file) =>
            readFile(file).pipe(
              Effect.map((bytes) => ({ path: file.path, executable: file.executable, bytes })),
              Effect.mapError((reason) => fault(`${file.path}: ${reason}.`)),
              Effect.tapError(() => Cache.invalidate(opened, archiveDigest))
            )
          )
        )
      })
    )

  const extract = Effect.fn("SnapshotStore.extract")(function* (
    archiveDigest: string,
    target: string
  ): Effect.fn.Return<void, ReadFailure | SnapshotStorageFailed> {
    const failed = storageFailed("The snapshot could not be unpacked.")
    const archive = yield* openedNow(archiveDigest)
    yield* fileSystem
      .makeDirectory(target, { recursive: true, mode: 0o700 })
      .pipe(Effect.andThen(fileSystem.chmod(target, 0o700)), Effect.mapError(failed))
    const present = yield* fileSystem.readDirectory(target).pipe(Effect.mapError(failed))
    if (present.length > 0)
      return yield* new SnapshotStorageFailed({ message: "The folder to unpack the snapshot into is not empty." })
    const folders = new Set(archive.index.files.map(({ path }) => path.slice(0, Math.max(0, path.lastIndexOf("/")))))
    folders.delete("")
    for (const parent of folders) {
      yield* fileSystem
        .makeDirectory(`${target}/${parent}`, { recursive: true, mode: 0o755 })
        .pipe(Effect.mapError(failed))
    }
    const fault = damaged(archiveDigest)
    yield* Effect.gen(function* () {
      const readFile = yield* holdArchive(archive).pipe(
        Effect.provideService(FileSystem.FileSystem, fileSystem),
        Effect.mapError((reason) => fault(`${reason}.`))
      )
      // Process a few files at a time, so that one file is read and verified while the disk writes the previous one.
      yield* Effect.forEach(
        archive.index.files,
        (file) =>
          readFile(file).pipe(
            Effect.mapError((reason) => fault(`${file.path}: ${reason}.`)),
            // The path contains no links, because svc itself created everything below the new folder.
            Effect.flatMap((bytes) =>
              fileSystem
                .writeFile(`${target}/${file.path}`, bytes, { flag: "wx", mode: file.executable ? 0o755 : 0o644 })
                .pipe(Effect.mapError(failed))
            )
          ),
        { concurrency: filesWrittenAtOnce, discard: true }
      )
    }).pipe(
      Effect.scoped,
      // Drop the cached verification: the bytes have changed although the modification time has not. The next read then
      // detects the damage before it unpacks anything.
      Effect.tapErrorTag("SnapshotDamaged", () => Cache.invalidate(opened, archiveDigest))
    )
  })

  const temporaryFolder = Effect.acquireRelease(
    Effect.gen(function* () {
      const name = yield* Effect.sync(() => randomUUID())
      live.add(name)
      yield* fileSystem
        .makeDirectory(`${temporary}/${name}`, { recursive: true, mode: 0o700 })
        .pipe(Effect.mapError(storageFailed("A temporary folder could not be created.")))
      return name
    }),
    (name) =>
      fileSystem.remove(`${temporary}/${name}`, { recursive: true, force: true }).pipe(
        // Ignore a failed removal, because the next cleanup will retry it.
        Effect.ignore,
        Effect.ensuring(Effect.sync(() => live.delete(name)))
      )
  ).pipe(Effect.map((name) => `${temporary}/${name}`))

  const syncFolder = (path: string) =>
    Effect.scoped(Effect.flatMap(fileSystem.open(path, { flag: "r" }), (handle) => handle.sync))

  const archive = Effect.fnUntraced(function* (archiveDigest: string) {
    const path = pathOf(archiveDigest)
    const exists = path !== undefined && (yield* fileSystem.exists(path).pipe(Effect.orElseSucceed(() => false)))
    return exists ? Option.some(path) : Option.none()
  })

  const adopt = Effect.fn("SnapshotStore.adopt")(function* (
    file: string,
    archiveDigest: string
  ): Effect.fn.Return<void, SnapshotStorageFailed> {
    const path = pathOf(archiveDigest)
    if (path === undefined) return yield* Effect.die(new Error(`not an archive digest: ${archiveDigest}`))
    const shard = path.slice(0, path.lastIndexOf("/"))
    // Replace the file even if it exists, because the existing file may be damaged. The new modification time protects the
    // file from the cleanup.
    yield* fileSystem
      .makeDirectory(shard, { recursive: true, mode: 0o700 })
      .pipe(
        Effect.andThen(fileSystem.rename(file, path)),
        Effect.andThen(syncFolder(shard)),
        Effect.andThen(syncFolder(folder)),
        Effect.mapError(storageFailed("The snapshot could not be stored."))
      )
    yield* Cache.invalidate(opened, archiveDigest)
  })

  const isOld = Effect.fnUntraced(function* (path: string) {
    const info = yield* fileSystem.stat(path)
    const now = yield* Clock.currentTimeMillis
    return Option.exists(info.mtime, (mtime) => now - mtime.getTime() >= grace)
  })

  const cleanUp = Effect.fn("SnapshotStore.cleanUp")(function* (
    keep: ReadonlySet<string>
  ): Effect.fn.Return<RemovedSnapshots, SnapshotStorageFailed> {
    return yield* Effect.gen(function* () {
      let temporaryFolders = 0
      for (const name of yield* fileSystem.readDirectory(temporary)) {
        if (live.has(name)) continue
        yield* fileSystem.remove(`${temporary}/${name}`, { recursive: true, force: true })
        temporaryFolders += 1
      }
      let archives = 0
      for (const shard of (yield* fileSystem.readDirectory(folder)).filter((name) => shardName.test(name))) {
        for (const name of yield* fileSystem.readDirectory(`${folder}/${shard}`)) {
          const sha256 = archiveFile.exec(name)?.[1]
          const path = `${folder}/${shard}/${name}`
          if (sha256 === undefined || keep.has(`sha256:${sha256}`) || !(yield* isOld(path))) continue
          yield* fileSystem.remove(path)
          yield* Cache.invalidate(opened, `sha256:${sha256}`)
          archives += 1
        }
      }
      return { temporaryFolders, archives }
    }).pipe(Effect.mapError(storageFailed("Old snapshots could not be removed.")))
  })

  return SnapshotStore.of({ open, digests, files, extract, cleanUp, temporaryFolder, archive, adopt })
})
