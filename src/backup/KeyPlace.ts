import { Effect, FileSystem, Path } from "effect"
import { masterKeyName } from "../database/DataFolder.ts"
import { masterKeySource, type Settings } from "../settings/Settings.ts"

export const keyBesideData =
  "The only master key of these settings is in the data folder. If the folder is lost, the key is lost too, and no backup can be opened."

export const keyBesideDataRemedy =
  "Keep a copy of the key apart from the machine and from the backups; or move it, e.g. to another disk, and name it with SVC_MASTER_KEY_FILE or SVC_MASTER_KEY_COMMAND."

/** Returns true if the master key is in the data folder, where the key and the data would be lost together. */
export const isKeyBesideData = Effect.fn("isKeyBesideData")(function* (settings: Settings) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const source = masterKeySource(settings, path.join(settings.dataDir, masterKeyName))
  if (source.kind !== "file") return false
  const real = (name: string) => Effect.orElseSucceed(files.realPath(name), () => path.resolve(name))
  const inside = path.relative(yield* real(settings.dataDir), yield* real(source.file))
  return inside !== ".." && !inside.startsWith(`..${path.sep}`) && !path.isAbsolute(inside)
})
