import { Context, Effect, FileSystem, Path, Schema } from "effect"
import {
  InstallationMismatch,
  instanceName,
  instanceOf,
  readInstallation,
  readInstance,
  writeDurably,
  writeInstance
} from "./Installation.ts"
import { lookAtRemains, replacedByNew, restoringName, setAside } from "./InstallationRemains.ts"

/** The data folder had an installation, and its database is gone. Nothing was changed. */
export class DatabaseVanished extends Schema.TaggedError<DatabaseVanished>()("DatabaseVanished", {
  message: Schema.String
}) {}

/** The operator's statements about the data folder. */
export interface ExpectedInstallationShape {
  /** Begin a new installation despite the remains of an earlier one. */
  readonly isNew: boolean
  /** The only installation that the folder may hold. */
  readonly id: string | undefined
}

export const ExpectedInstallation = Context.Reference<ExpectedInstallationShape>("svc/database/ExpectedInstallation", {
  defaultValue: () => ({ isNew: false, id: undefined })
})

/** Exists before a first start creates anything, until the folder knows its database. */
const markName = "instance.creating"

/** Why a folder with these remains cannot hold a new installation, and what to do. */
export const vanishedMessage = (folder: string, found: ReadonlyArray<string>): string => {
  const named = `${folder} holds ${found.join(", ")}`
  return found.includes(restoringName)
    ? `${named}: a restore was interrupted before it put the database in its place. Repeat \`svc restore\`.`
    : `${named}, but no database with anything in it. This is not a new installation: its database was lost or moved, or its disk is not mounted. Put svc.sqlite back (with svc.sqlite-wal, if there is one), or restore a backup with \`svc restore\`. To begin a new installation here all the same, start once with \`svc serve --new\`, which moves the remains aside.`
}

const unexpected = (folder: string, expected: string, found: string) =>
  new InstallationMismatch({
    message: `SVC_INSTALLATION names ${expected}, and ${folder} holds ${found}. Is the right disk mounted there? Nothing was created or changed.`
  })

const unusable = (folder: string) => (error: { readonly message: string }) =>
  new DatabaseVanished({ message: `The data folder ${folder} cannot be used: ${error.message}.` })

/**
 * Decides, before a database is opened or created, whether this folder may get a new one. A database that has vanished
 * must not look like a new installation; a first start that was interrupted may go on.
 */
export const admitDatabase = Effect.fn("admitDatabase")(
  function* (folder: string) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const expected = yield* ExpectedInstallation
    const mark = path.join(folder, markName)
    const { database, found } = yield* lookAtRemains(folder, { readOnly: false })
    if (database === "installed") {
      if (!expected.isNew) return
      return yield* new InstallationMismatch({
        message: `${folder} holds an installation. Start without --new, which is for a folder whose database is gone.`
      })
    }
    if (expected.id !== undefined) return yield* unexpected(folder, expected.id, "no installation")
    if ((yield* fs.exists(mark)) && (yield* readInstance(folder)) === "absent") return
    if (found.length > 0) {
      if (!expected.isNew) return yield* new DatabaseVanished({ message: vanishedMessage(folder, found) })
      const aside = yield* setAside(folder, replacedByNew)
      if (aside !== undefined) yield* Effect.logWarning(`What was left of an earlier installation is in ${aside} now`)
    }
    yield* writeDurably(mark, "A first start is under way, and nothing was here before it.\n")
  },
  (effect, folder) => Effect.catchTag(effect, "PlatformError", (error) => unusable(folder)(error))
)

/** Before migration: fails with `InstallationMismatch` where the opened database does not belong to this folder. */
export const checkInstallation = Effect.fn("checkInstallation")(function* (folder: string) {
  const path = yield* Path.Path
  const expected = yield* ExpectedInstallation
  const instance = yield* readInstance(folder)
  const inside = yield* readInstallation
  if (expected.id !== undefined && inside?.id !== expected.id) {
    return yield* unexpected(folder, expected.id, inside?.id ?? "a database of an earlier release")
  }
  if (typeof instance === "string" || inside?.id === instance.installationId) return
  const owner = inside === undefined ? "an installation of an earlier release" : `the installation ${inside.id}`
  return yield* new InstallationMismatch({
    message: `The database in ${folder} belongs to ${owner}, and the folder to ${instance.installationId}: one of them was put there from elsewhere. Put the right database back. If this is the right one, move ${path.join(folder, instanceName)} away first.`
  })
})

/** Records the database in the folder, after the migration. From here on a missing database is noticed. */
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
