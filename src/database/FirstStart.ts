import { Context, Effect, FileSystem, Path, type PlatformError, Schema } from "effect"
import {
  InstallationMismatch,
  instanceName,
  instanceOf,
  readInstallation,
  readInstance,
  writeDurably,
  writeInstance
} from "./Installation.ts"
import { inspectPartialInstallation, replacedByNew, restoringName, setAside } from "./PartialInstallation.ts"
import { faultText, type StartFault } from "./StartFault.ts"

/** Raised if the data folder contains the remains of an installation, but no database. Nothing was changed. */
export class DatabaseVanished extends Schema.TaggedError<DatabaseVanished>()("DatabaseVanished", {
  message: Schema.String
}) {}

/** The installation that the operator expects in the data folder. */
export interface ExpectedInstallationShape {
  /** If true, begins a new installation despite the remains of an earlier one. */
  readonly isNew: boolean
  /** Id of the installation that the folder must contain. */
  readonly id: string | undefined
}

export const ExpectedInstallation = Context.Reference<ExpectedInstallationShape>(
  "svc/src/database/ExpectedInstallation",
  {
    defaultValue: () => ({ isNew: false, id: undefined })
  }
)

/**
 * Name of a file that marks an unfinished first startup: it exists from just before anything is created until the database
 * is recorded in the folder.
 */
const markName = "instance.creating"

/** Explains why a folder with these remains cannot contain a new installation, and how to proceed. */
const vanished = (folder: string, found: ReadonlyArray<string>): StartFault => {
  const named = `${folder} holds ${found.join(", ")}`
  return found.includes(restoringName)
    ? {
        message: `${named}: a restore was interrupted before it put the database in its place.`,
        remedy: "Repeat `svc restore`."
      }
    : {
        message: `${named}, but no database with anything in it. This is not a new installation: its database was lost or moved, or its disk is not mounted.`,
        remedy:
          "Put svc.sqlite back (with svc.sqlite-wal, if there is one), or restore a backup with `svc restore`. To begin a new installation here all the same, start once with `svc serve --new`, which moves the remains aside."
      }
}

const unexpected = (folder: string, expected: string, found: string): StartFault => ({
  message: `SVC_INSTALLATION names ${expected}, and ${folder} holds ${found}.`,
  remedy: "Is the right disk mounted there? Nothing was created or changed."
})

const unusable = (folder: string) => (error: { readonly message: string }) =>
  new DatabaseVanished({ message: `The data folder ${folder} cannot be used: ${error.message}.` })

/** Whether and how a server may use a folder. `fault` is set for `lost` and `unexpected`. */
interface Admission {
  readonly kind: "installed" | "new" | "resumed" | "lost" | "unexpected"
  readonly fault?: StartFault
}

/**
 * Decides whether a server may begin or continue an installation in this folder. A folder that has lost its database must
 * not be mistaken for a new installation, but an interrupted first startup may continue. With `readOnly`, does not change
 * the folder.
 */
export const admissionOf = Effect.fn("admissionOf")(function* (
  folder: string,
  expected: string | undefined,
  options: { readonly readOnly: boolean }
): Effect.fn.Return<
  Admission,
  Effect.Error<ReturnType<typeof readInstance>> | PlatformError.PlatformError,
  FileSystem.FileSystem | Path.Path
> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { database, found } = yield* inspectPartialInstallation(folder, options)
  if (database === "installed") return { kind: "installed" }
  if (expected !== undefined) return { kind: "unexpected", fault: unexpected(folder, expected, "no installation") }
  const isMarked = yield* fs.exists(path.join(folder, markName))
  if (isMarked && (yield* readInstance(folder)) === "absent") return { kind: "resumed" }
  return found.length > 0 ? { kind: "lost", fault: vanished(folder, found) } : { kind: "new" }
})

/** Decides whether a new database may be created in this folder, before any database is opened or created. */
export const admitDatabase = Effect.fn("admitDatabase")(
  function* (folder: string) {
    const path = yield* Path.Path
    const { id, isNew } = yield* ExpectedInstallation
    const { fault, kind } = yield* admissionOf(folder, id, { readOnly: false })
    if (kind === "resumed") return
    if (kind === "installed") {
      if (!isNew) return
      return yield* new InstallationMismatch({
        message: `${folder} holds an installation. Start without --new, which is for a folder whose database is gone.`
      })
    }
    if (kind === "unexpected" && fault !== undefined) {
      return yield* new InstallationMismatch({ message: faultText(fault) })
    }
    if (fault !== undefined) {
      if (!isNew) return yield* new DatabaseVanished({ message: faultText(fault) })
      const aside = yield* setAside(folder, replacedByNew)
      if (aside !== undefined) yield* Effect.logWarning(`What was left of an earlier installation is in ${aside} now`)
    }
    yield* writeDurably(path.join(folder, markName), "A first start is under way, and nothing was here before it.\n")
  },
  (effect, folder) => Effect.catchTag(effect, "PlatformError", (error) => unusable(folder)(error))
)

/** Returns the reason why the opened database does not match this folder or these settings, if any. */
export const installationFault = Effect.fn("installationFault")(function* (
  folder: string,
  expected: string | undefined
): Effect.fn.Return<
  StartFault | undefined,
  Effect.Error<typeof readInstallation> | Effect.Error<ReturnType<typeof readInstance>>,
  Effect.Services<typeof readInstallation> | FileSystem.FileSystem | Path.Path
> {
  const path = yield* Path.Path
  const instance = yield* readInstance(folder)
  const inside = yield* readInstallation
  if (expected !== undefined && inside?.id !== expected) {
    return unexpected(folder, expected, inside?.id ?? "a database of an earlier release")
  }
  if (typeof instance === "string" || inside?.id === instance.installationId) return undefined
  const owner = inside === undefined ? "an installation of an earlier release" : `the installation ${inside.id}`
  return {
    message: `The database in ${folder} belongs to ${owner}, and the folder to ${instance.installationId}: one of them was put there from elsewhere.`,
    remedy: `Put the right database back. If this is the right one, move ${path.join(folder, instanceName)} away first.`
  }
})

/** Fails with `InstallationMismatch` if the opened database does not match this folder. Runs before the migration. */
export const checkInstallation = Effect.fn("checkInstallation")(function* (folder: string) {
  const fault = yield* installationFault(folder, (yield* ExpectedInstallation).id)
  if (fault !== undefined) return yield* new InstallationMismatch({ message: faultText(fault) })
})

/** Records the database in the folder after the migration. From then on, svc detects it if the database is missing. */
export const settleInstallation = Effect.fn("settleInstallation")(
  function* (folder: string) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const inside = yield* readInstallation
    if (inside === undefined) return
    const wanted = instanceOf(inside)
    const present = yield* readInstance(folder)
    if (typeof present === "string" || present.schemaVersion !== wanted.schemaVersion) {
      yield* writeInstance(folder, wanted)
    }
    yield* fs.remove(path.join(folder, markName), { force: true })
  },
  (effect, folder) => Effect.catchTag(effect, "PlatformError", (error) => unusable(folder)(error))
)
