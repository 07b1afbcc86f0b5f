import { chmod, chown, stat } from "node:fs/promises"
import { dirname } from "node:path"
import { Effect } from "effect"

const othersPass = 0o001
const othersUse = 0o005
const groupPasses = 0o010
const groupUses = 0o050

export interface PassageRequest {
  /** The group of all users of runs. */
  readonly group: number
  /** Only folders in here may be opened to the group. */
  readonly within: ReadonlyArray<string>
}

const isWithin = (path: string, folders: ReadonlyArray<string>) =>
  folders.some((folder) => path === folder || path.startsWith(`${folder}/`))

/**
 * Lets the users of runs reach a path: folders of the service that nobody else may pass are opened to the group of these users, to be
 * passed and not to be listed. Fails with the first folder that is not the service's and that they cannot pass.
 */
export const grantPassage = (path: string, use: "pass" | "read", { group, within }: PassageRequest) =>
  Effect.gen(function* () {
    const grant = Effect.fnUntraced(function* (entry: string, needed: number, granted: number) {
      const { gid, mode, uid } = yield* Effect.tryPromise({ try: () => stat(entry), catch: () => entry })
      if ((mode & needed) === needed) return
      if (!isWithin(entry, within)) return yield* Effect.fail(entry)
      if (gid === group && (mode & granted) === granted) return
      yield* Effect.tryPromise({
        try: async () => {
          await chown(entry, uid, group)
          await chmod(entry, (mode & 0o7777) | granted)
        },
        catch: () => entry
      })
    })
    for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
      yield* grant(folder, othersPass, groupPasses)
    }
    if (use === "read") yield* grant(path, othersUse, groupUses)
  })
