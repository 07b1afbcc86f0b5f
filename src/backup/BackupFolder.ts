import { Clock, Effect, FileSystem, Path } from "effect"

const fileName = /^svc-(\d{4}-\d{2}-\d{2})T(\d{2})-(\d{2})-(\d{2})Z\.backup$/
/** The suffix of the file name of a backup that has not been verified yet. */
const pendingEnd = ".unverified"

export interface KeptBackup {
  readonly file: string
  /** Milliseconds since the Unix epoch. */
  readonly writtenAt: number
}

/** Returns the name of a scheduled backup. */
export const backupName = (at: number): string =>
  `svc-${new Date(at).toISOString().slice(0, 19).replaceAll(":", "-")}Z.backup`

export const pendingName = (at: number): string => `${backupName(at)}${pendingEnd}`

/** Returns the time at which the backup with this name was written, or `undefined` for an unrelated file. */
export const writtenAtOf = (name: string): number | undefined => {
  const [, day, hour, minute, second] = fileName.exec(name) ?? []
  const at = day === undefined ? Number.NaN : Date.parse(`${day}T${hour}:${minute}:${second}Z`)
  return Number.isNaN(at) ? undefined : at
}

/**
 * Sorts backups, newest first. A time in the future was recorded before the clock was corrected. A backup with a future time
 * counts as the oldest, so that it does not delay the next backup and is not kept for longer than newer backups.
 */
const newestFirst = (backups: ReadonlyArray<KeptBackup>, at: number): ReadonlyArray<KeptBackup> => {
  const age = ({ writtenAt }: KeptBackup) => (writtenAt > at ? Number.MAX_SAFE_INTEGER : at - writtenAt)
  return backups.toSorted((left, right) => age(left) - age(right))
}

/** Returns the verified backups in a folder, newest first. Ignores files with other names. */
export const keptBackups = Effect.fn("keptBackups")(function* (folder: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const found = (yield* files.readDirectory(folder)).flatMap((name): ReadonlyArray<KeptBackup> => {
    const writtenAt = writtenAtOf(name)
    return writtenAt === undefined ? [] : [{ file: path.join(folder, name), writtenAt }]
  })
  return newestFirst(found, yield* Clock.currentTimeMillis)
})

/** Removes the incomplete files of an interrupted backup. */
export const removePending = Effect.fn("removePending")(function* (folder: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  for (const name of yield* files.readDirectory(folder)) {
    const [finished = ""] = name.split(pendingEnd)
    if (name !== finished && writtenAtOf(finished) !== undefined) yield* files.remove(path.join(folder, name))
  }
})

/** Returns the age in milliseconds at which the newest backup is overdue. */
export const overdueMillis = (intervalHours: number): number => 2 * intervalHours * 3_600_000
