import { access, constants } from "node:fs/promises"
import { Effect, FileSystem, Option, Path } from "effect"
import { masterKeysInUse } from "../../../actors/base/vault/DataKeys.ts"
import { loadKeyring, loadWholeKeyring } from "../../../actors/base/vault/MasterKeyStore.ts"
import { masterKeyName } from "../../database/DataFolder.ts"
import type { DataFolderInspection } from "../../database/DataFolderInspection.ts"
import { integrityOf } from "../../database/ReadOnlyDatabase.ts"
import type { Holder } from "../../database/InstanceLock.ts"
import { damage, quickFault } from "../../database/DatabaseCheck.ts"
import { newestKnown, tableVersion } from "../../database/Migrations.ts"
import type { StartFault } from "../../database/StartFault.ts"
import { masterKeySource, type Settings } from "../../settings/Settings.ts"
import type { Finding } from "./DoctorReport.ts"

const mostProblems = 5

const isWritable = (folder: string) =>
  Effect.tryPromise(() => access(folder, constants.W_OK | constants.X_OK)).pipe(
    Effect.as(true),
    Effect.orElseSucceed(() => false)
  )

/**
 * Checks whether a server with this user's permissions can work in the folder, and reports what the server would create when
 * it first starts.
 */
export const folderFinding = Effect.fn("folderFinding")(function* (
  look: DataFolderInspection
): Effect.fn.Return<Finding> {
  const { kind, mode, network, owner, path, standing } = look
  const error = (message: string, remedy: string): Finding => ({ check: "folder", status: "error", message, remedy })
  const elsewhere = "Name another folder with SVC_DATA_DIR or --data-dir."
  if (kind === "other") return error(`${path} is not a folder.`, elsewhere)
  if (network !== undefined) {
    return error(`${path} is on a network file system (${network}), where a database can be damaged.`, elsewhere)
  }
  const user = process.getuid?.() ?? owner
  if (kind === "folder" && user !== 0 && user !== owner) {
    return error(
      `${path} belongs to user ${owner}, and this is user ${user}.`,
      "Run this as the user of the server, or as root."
    )
  }
  if (!(yield* isWritable(standing))) {
    const missing = kind === "nothing" ? `${path} does not exist, and this` : "This"
    return error(`${missing} user cannot write to ${standing}.`, `Give it the rights. ${elsewhere}`)
  }
  if (kind === "nothing") {
    return {
      check: "folder",
      status: "ok",
      message: `${path} does not exist; the first start creates it with mode 0700, with a database and, unless one is given, a master key.`
    }
  }
  // Permit the group to traverse the folder, because the group contains the users of Runs if each Run has a separate user.
  return (mode & 0o067) === 0
    ? { check: "folder", status: "ok", message: path }
    : {
        check: "folder",
        status: "warning",
        message: `${path} is open to others (mode ${mode.toString(8)}).`,
        remedy: `The server closes it when it starts; until then \`chmod 700 ${path}\`.`
      }
})

/** Reports the process that holds the folder's lock. A held lock is not an error. */
export const serverFinding = ({ held, holder }: { held: boolean; holder: Option.Option<Holder> }): Finding => {
  const named = Option.match(holder, {
    onNone: () => "",
    onSome: ({ pid, since }) => `${since === undefined ? "" : ` since ${since}`}, process ${pid}`
  })
  return {
    check: "server",
    status: "ok",
    message: held ? `A server is running on this folder${named}.` : "No server is running on this folder."
  }
}

/** Reports a database fault with the same message as at startup. */
export const faulty = (check: Finding["check"], { message, remedy }: StartFault): Finding => ({
  check,
  status: "error",
  message,
  remedy
})

/** Reports the first fault that would prevent startup, with the same message as at startup, and then all other findings. */
export const databaseFinding = Effect.fn("databaseFinding")(function* (file: string, isServed: boolean) {
  const quick = isServed ? undefined : yield* quickFault(file)
  if (quick !== undefined) return faulty("database", quick)
  const problems = yield* integrityOf(isServed)
  if (problems.length > 0) return faulty("database", damage(file, problems.slice(0, mostProblems).join("; ")))
  const sound: Finding = {
    check: "database",
    status: "ok",
    message: isServed
      ? "Every table of the database is sound; pages of no table are checked while no server runs."
      : "The database file is sound."
  }
  return sound
})

export const migrationsFinding = Effect.fn("migrationsFinding")(function* (isServed: boolean) {
  const { fault, newest } = yield* tableVersion
  if (fault !== undefined) return faulty("migrations", fault)
  const finding = (status: Finding["status"], message: string, remedy?: string): Finding => ({
    check: "migrations",
    status,
    message,
    remedy
  })
  if (newest === newestKnown) return finding("ok", `The tables are those of this release (version ${newest}).`)
  return isServed
    ? finding(
        "warning",
        `The running server is older than this release: the tables have version ${newest}, this release has ${newestKnown}.`,
        "Take a backup, then restart the server with this release."
      )
    : finding(
        "ok",
        `The tables have version ${newest}; the next start brings them to ${newestKnown}. Take a backup first.`
      )
})

/** Lists the master keys that are needed for the stored secrets, or no keys if there is no database. */
export const neededKeys = Effect.map(masterKeysInUse, (keys) => keys.map(({ id }) => id))

/** Reads the master keys in these settings. Creates no key. */
export const givenKeys = Effect.fn("givenKeys")(function* (settings: Settings, folder: string) {
  const path = yield* Path.Path
  const source = masterKeySource(settings, path.join(folder, masterKeyName))
  const whole = yield* Effect.option(loadKeyring(source.kind === "file" ? { ...source, create: false } : source, []))
  return { whole, keys: Option.match(whole, { onNone: () => [], onSome: ({ keys }) => keys }) }
})

/** Checks that these settings contain the master keys that the database needs. Creates no key. */
export const vaultFinding = Effect.fn("vaultFinding")(function* (
  settings: Settings,
  folder: string,
  needed: ReadonlyArray<string>
) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const source = masterKeySource(settings, path.join(folder, masterKeyName))
  if (source.kind === "file" && source.create && needed.length === 0 && !(yield* files.exists(source.file))) {
    const finding: Finding = {
      check: "vault",
      status: "ok",
      message: `The first start creates the master key ${source.file}. Keep a copy of it, apart from the backups.`
    }
    return finding
  }
  yield* loadWholeKeyring(source.kind === "file" ? { ...source, create: false } : source, needed)
  const finding: Finding = { check: "vault", status: "ok", message: "The master key opens the vault." }
  return finding
})

/**
 * Downgrades the finding while a server is running, because that server already has its keys and a missing key affects only
 * these settings.
 */
export const besideServer = (finding: Finding): Finding =>
  finding.status === "error"
    ? {
        ...finding,
        status: "warning",
        remedy: "The running server has its keys. Repeat this with the settings that it was started with."
      }
    : finding
