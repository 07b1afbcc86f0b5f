import { Effect, FileSystem, Path } from "effect"
import { openArchive } from "../../runner/snapshot/ArchiveReader.ts"
import { BackupRefused } from "./BackupRefused.ts"
import { type BackupEntry, type BackupManifest, type NeededFile, placeOf } from "./BackupManifest.ts"
import { passOn } from "./FileRanges.ts"

/** Receives progress lines from a long-running command. */
export type Progress = (line: string) => Effect.Effect<void>

/**
 * Returns true if the file's bytes match the digest in its name. Builds are not checked here, because their digests are
 * compared during the copy.
 */
const isWhole = ({ digest, kind }: NeededFile, file: string) =>
  kind === "build" ? Effect.succeed(true) : Effect.isSuccess(openArchive(file, digest))

/**
 * Appends files from the data folder to `backup`. Skips damaged and missing files, and returns a list of them. The next plan
 * fetches or builds these files again.
 */
export const appendFiles = Effect.fn("appendFiles")(function* (
  backup: string,
  folder: string,
  needed: ReadonlyArray<NeededFile>,
  progress: Progress
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const entries: Array<BackupEntry> = []
  const missing: Array<NeededFile> = []
  let end = Number((yield* fs.stat(backup)).size)
  for (const [index, file] of needed.entries()) {
    yield* progress(`Copying ${file.kind} ${index + 1} of ${needed.length}`)
    const place = path.join(folder, placeOf(file))
    const entry = yield* Effect.gen(function* () {
      if (!(yield* isWhole(file, place))) return undefined
      const from = yield* fs.open(place, { flag: "r" })
      const to = yield* fs.open(backup, { flag: "a" })
      const size = Number((yield* from.stat).size)
      const copied = yield* passOn(from, 0, size, (piece) => to.writeAll(piece))
      return file.kind === "build" && `sha256:${copied.sha256}` !== file.digest ? undefined : { ...file, ...copied }
    }).pipe(
      Effect.scoped,
      // Treat a file that disappears as missing. Only a failure to write the backup is reported as an error.
      Effect.catchIf(
        (error) => error.reason._tag === "NotFound",
        () => Effect.undefined
      )
    )
    if (entry === undefined) {
      missing.push(file)
      yield* fs.truncate(backup, end)
    } else {
      entries.push(entry)
      end += entry.sizeBytes
    }
  }
  return { entries, missing }
})

/** Returns each file of a backup with its offset. */
export const placed = ({ databaseBytes, entries }: BackupManifest) => {
  let offset = databaseBytes
  return entries.map((entry) => {
    const at = offset
    offset += entry.sizeBytes
    return { entry, offset: at }
  })
}

/** Returns the number of bytes before the manifest of a backup. */
export const contentBytes = ({ databaseBytes, entries }: BackupManifest): number =>
  entries.reduce((sum, { sizeBytes }) => sum + sizeBytes, databaseBytes)

/** Writes the files of an authenticated backup to a new folder. Returns when they are durable. */
export const unpackFiles = Effect.fn("unpackFiles")(function* (
  backup: string,
  manifest: BackupManifest,
  folder: string
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const from = yield* fs.open(backup, { flag: "r" })
  for (const { entry, offset } of placed(manifest)) {
    const target = path.join(folder, placeOf(entry))
    yield* fs.makeDirectory(path.dirname(target), { recursive: true, mode: 0o700 })
    const written = yield* Effect.scoped(
      Effect.gen(function* () {
        const to = yield* fs.open(target, { flag: "wx", mode: 0o600 })
        const passed = yield* passOn(from, offset, entry.sizeBytes, (piece) => to.writeAll(piece))
        yield* to.sync
        return passed
      })
    )
    // Compare the digest again. The copy was checked earlier, but the disk may have failed since.
    if (written.sha256 !== entry.sha256) {
      return yield* new BackupRefused({ message: `The ${entry.kind} ${entry.digest} could not be written whole.` })
    }
  }
}, Effect.scoped)

/** Moves unpacked files into the data folder. Replaces existing files, which may be damaged. */
export const placeFiles = Effect.fn("placeFiles")(function* (
  unpacked: string,
  folder: string,
  { entries }: BackupManifest
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folders = new Set<string>([folder])
  for (const entry of entries) {
    const target = path.join(folder, placeOf(entry))
    const parent = path.dirname(target)
    yield* fs.makeDirectory(parent, { recursive: true, mode: 0o700 })
    yield* fs.rename(path.join(unpacked, placeOf(entry)), target)
    for (const changed of [parent, path.dirname(parent)]) folders.add(changed)
  }
  for (const changed of folders) {
    yield* Effect.scoped(Effect.flatMap(fs.open(changed, { flag: "r" }), (handle) => handle.sync))
  }
})
