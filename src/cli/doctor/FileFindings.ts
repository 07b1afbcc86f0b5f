import { access, constants, stat } from "node:fs/promises"
import { Effect, Path } from "effect"
import { buildsName, databaseName, masterKeyName, snapshotsName } from "../../database/DataFolder.ts"
import type { DataFolderInspection } from "../../database/DataFolderInspection.ts"
import { instanceName } from "../../database/Installation.ts"
import type { Finding } from "./DoctorReport.ts"

const { R_OK, W_OK, X_OK } = constants

/**
 * Files that a server opens in its data folder, with the permissions that the server needs. A master key may be read-only.
 */
const needed: ReadonlyArray<readonly [name: string, rights: number]> = [
  [databaseName, R_OK | W_OK],
  [`${databaseName}-wal`, R_OK | W_OK],
  [`${databaseName}-shm`, R_OK | W_OK],
  [masterKeyName, R_OK],
  [instanceName, R_OK | W_OK],
  ["instance.lock", R_OK | W_OK],
  ["instance.holder", R_OK | W_OK],
  ...[snapshotsName, buildsName, "runs", "tools", "providers", "sandbox"].map(
    (name) => [name, R_OK | W_OK | X_OK] as const
  )
]

/**
 * Inspects a file without opening it, because closing a file of an open database would release the database's locks. Returns
 * `undefined` if the file does not exist.
 */
const lookAt = Effect.fnUntraced(function* (folder: string, name: string, rights: number) {
  const path = yield* Path.Path
  const file = path.join(folder, name)
  const found = yield* Effect.option(Effect.tryPromise(() => stat(file)))
  if (found._tag === "None") return undefined
  const isUsable = yield* Effect.tryPromise(() => access(file, rights)).pipe(
    Effect.as(true),
    Effect.orElseSucceed(() => false)
  )
  return { name, file, owner: found.value.uid, isUsable }
})

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/**
 * Checks whether the server's user can open everything in the data folder. For example, the user cannot open files that root
 * created by running a command.
 */
export const filesFinding = Effect.fn("filesFinding")(function* (
  look: DataFolderInspection
): Effect.fn.Return<ReadonlyArray<Finding>, never, Path.Path> {
  if (look.kind !== "folder") return []
  const seen = (yield* Effect.forEach(needed, ([name, rights]) => lookAt(look.path, name, rights))).filter(
    (file) => file !== undefined
  )
  const unusable = seen.filter(({ isUsable }) => !isUsable)
  const foreign = seen.filter(({ owner }) => owner !== look.owner)
  const names = (files: typeof seen) => files.map(({ name }) => name).join(", ")
  const wrong = seen.filter((file) => unusable.includes(file) || foreign.includes(file))
  const paths = wrong.map(({ file }) => quoted(file)).join(" ")
  const remedy = `As root: chown ${look.owner} ${paths} && chmod u+rwX ${paths}`
  if (unusable.length > 0) {
    const message = `This user (${process.getuid?.() ?? look.owner}) cannot read and write ${names(unusable)} in ${look.path}.`
    return [{ check: "files", status: "error", message, remedy }]
  }
  if (foreign.length > 0) {
    const message = `${names(foreign)} in ${look.path} do not belong to user ${look.owner}, who has the folder: a server of that user cannot open them.`
    return [{ check: "files", status: "warning", message, remedy }]
  }
  return [{ check: "files", status: "ok", message: "This user can read and write every file that a server needs." }]
})
