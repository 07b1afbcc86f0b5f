import { Clock, Effect } from "effect"
import { keptBackups, overdueMillis } from "../../backup/BackupFolder.ts"
import { isKeyBesideData, keyBesideData, keyBesideDataRemedy } from "../../backup/KeyPlace.ts"
import type { Settings } from "../../settings/Settings.ts"
import type { Finding } from "./DoctorReport.ts"

const hourMillis = 3_600_000

/** Checks that the key to the backups is stored apart from the data. */
export const keyFindings = (settings: Settings) =>
  Effect.map(
    isKeyBesideData(settings),
    (isBeside): ReadonlyArray<Finding> =>
      isBeside ? [{ check: "key", status: "warning", message: keyBesideData, remedy: keyBesideDataRemedy }] : []
  )

const folderFinding = Effect.fn("folderFinding")(function* (folder: string, intervalHours: number) {
  const [newest] = yield* keptBackups(folder)
  const look = "Look into the log of the server for the reason, and try `svc backup` by hand."
  const finding = (status: Finding["status"], message: string, remedy?: string): Finding => ({
    check: "backup",
    status,
    message,
    ...(remedy === undefined ? {} : { remedy })
  })
  if (newest === undefined) return finding("warning", `${folder} contains no verified backup yet.`, look)
  const age = (yield* Clock.currentTimeMillis) - newest.writtenAt
  const message = `The newest verified backup is ${Math.floor(age / hourMillis)} hours old: ${newest.file}`
  return age > overdueMillis(intervalHours) ? finding("error", message, look) : finding("ok", message)
})

/** Checks the age of the newest scheduled backup. Returns no finding if no backups are scheduled. */
export const backupFindings = Effect.fn("backupFindings")(function* (settings: Settings) {
  const folder = settings.backupDirectory
  if (folder === undefined) return []
  const finding = yield* folderFinding(folder, settings.backupInterval).pipe(
    Effect.catch(({ message }) => {
      const unreadable: Finding = {
        check: "backup",
        status: "error",
        message: `The folder of backups cannot be read: ${message}.`,
        remedy: "Create it, give it to the user of the server, or name another one with SVC_BACKUP_DIRECTORY."
      }
      return Effect.succeed(unreadable)
    })
  )
  return [finding]
})
