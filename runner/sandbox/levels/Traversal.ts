import { chmod, chown, stat } from "node:fs/promises"
import { dirname } from "node:path"
import { Effect } from "effect"

const othersPass = 0o001
const othersUse = 0o005
const groupPasses = 0o010
const groupUses = 0o050

export interface TraversalRequest {
  /** The group that contains all run users. */
  readonly group: number
  /** Only folders inside these may be opened to the group. */
  readonly within: ReadonlyArray<string>
}

const isWithin = (path: string, folders: ReadonlyArray<string>) =>
  folders.some((folder) => path === folder || path.startsWith(`${folder}/`))

/** The folders above a path, starting with the nearest. */
const above = (path: string): ReadonlyArray<string> =>
  dirname(path) === path ? [] : [dirname(path), ...above(dirname(path))].filter((folder) => folder !== "/")

/** The first parent folder of a path that an unprivileged user cannot traverse; `none` if the path is reachable. */
export const untraversableAncestor = (path: string) =>
  Effect.findFirst(above(path), (folder) =>
    Effect.tryPromise(() => stat(folder)).pipe(
      Effect.map(({ mode }) => (mode & othersPass) === 0),
      // The service will create folders that do not exist yet.
      Effect.orElseSucceed(() => false)
    )
  )

/**
 * Lets run users reach a path: private folders of the service give their group permission for traversal but not for listing.
 * Fails with the first folder that they cannot traverse and that does not belong to the service.
 */
export const grantTraversal = (path: string, use: "pass" | "read", { group, within }: TraversalRequest) =>
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
    yield* Effect.forEach(above(path), (folder) => grant(folder, othersPass, groupPasses), { discard: true })
    if (use === "read") yield* grant(path, othersUse, groupUses)
  })
