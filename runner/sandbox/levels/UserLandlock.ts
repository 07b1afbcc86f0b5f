import { chmod, chown, lchown, readdir, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import { Effect, Option, Queue } from "effect"
import { ChildProcess } from "effect/process"
import { findProgram } from "../InstalledProgram.ts"
import type { Rung, Verdict } from "../SandboxLadder.ts"
import { SandboxRefused } from "../SandboxStatus.ts"
import { systemPath } from "../SandboxView.ts"
import { deviationsOf } from "./ConfinementProbe.ts"
import { outside, spawnSupervised, temporaryFolderFor } from "./Confined.ts"
import { kernelLandlock, landlockFilters, type LandlockFilters, landlockOf } from "./LandlockLevel.ts"
import type { Level, LevelHost, OpenSandbox } from "./Level.ts"
import type { UserIdRange } from "./UserIdRange.ts"

const othersPass = 0o001
const othersUse = 0o005
const groupPasses = 0o010
const groupUses = 0o050

interface TraversalRequest {
  /** Group that contains all run users. */
  readonly group: number
  /** Only folders inside these folders may be opened to the group. */
  readonly within: ReadonlyArray<string>
}

const isWithin = (path: string, folders: ReadonlyArray<string>) =>
  folders.some((folder) => path === folder || path.startsWith(`${folder}/`))

/** Lists the folders above a path, nearest first. */
const above = (path: string): ReadonlyArray<string> =>
  dirname(path) === path ? [] : [dirname(path), ...above(dirname(path))].filter((folder) => folder !== "/")

/** Returns the first parent folder of a path that an unprivileged user cannot traverse, or `none` if the path is accessible. */
const untraversableAncestor = (path: string) =>
  Effect.findFirst(above(path), (folder) =>
    Effect.tryPromise(() => stat(folder)).pipe(
      Effect.map(({ mode }) => (mode & othersPass) === 0),
      // Ignore missing folders, which the server creates later.
      Effect.orElseSucceed(() => false)
    )
  )

/**
 * Gives run users access to a path: lets the group traverse, but not list, private folders of the server. Fails with the
 * first folder outside `within` that the run users cannot traverse.
 */
const grantTraversal = (path: string, use: "pass" | "read", { group, within }: TraversalRequest) =>
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

/**
 * The first version that can restrict truncating a file by its path. For everything else, earlier versions are sufficient,
 * because a program that runs as a separate user cannot reach processes of other users.
 */
const truncationSince = 3

const give = (folder: string, userId: number): Effect.Effect<void> =>
  Effect.promise(async () => {
    await lchown(folder, userId, userId)
    for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
      await lchown(join(entry.parentPath, entry.name), userId, userId)
    }
  })

/**
 * Kills all processes of a run's own user at once, even if they multiply faster than a supervisor could kill them one by
 * one.
 */
const endAllOf = (host: LevelHost, setpriv: string, userId: number) =>
  host.spawner
    .exitCode(
      ChildProcess.make(
        setpriv,
        [`--reuid=${userId}`, `--regid=${userId}`, "--clear-groups", "--", "/bin/sh", "-c", "kill -KILL -1"],
        { env: { PATH: systemPath }, stdin: "ignore", stdout: "ignore", stderr: "ignore" }
      )
    )
    .pipe(Effect.ignore)

const levelOf = Effect.fnUntraced(function* (
  host: LevelHost,
  setpriv: string,
  filters: LandlockFilters,
  { count, first }: UserIdRange
) {
  const { dataFolder } = host.settings
  const within = [host.ownFolder, ...(dataFolder === undefined ? [] : [dataFolder])]
  const traversal = { group: first + count, within }
  const userIds = yield* Queue.unbounded<number>()
  yield* Queue.offerAll(
    userIds,
    Array.from({ length: count }, (_, index) => first + index)
  )
  const level: Level = {
    level: "user_landlock",
    insideRoot: (root) => root,
    open: Effect.fnUntraced(function* (spec, { guard, limits }) {
      const reachable = [
        grantTraversal(spec.root, "pass", traversal),
        ...[...spec.readOnly, ...(spec.lent ?? [])].map((path) => grantTraversal(path, "read", traversal))
      ]
      yield* Effect.all(reachable, { discard: true }).pipe(
        Effect.mapError(
          (blocked) =>
            new SandboxRefused({
              level: "user_landlock",
              message: `The user of a run cannot pass or read ${blocked}: give it mode 711, or 755 if it is to be read, or install the 'bubblewrap' package.`
            })
        )
      )
      const userId = yield* Effect.acquireRelease(Queue.take(userIds), (id) => Queue.offer(userIds, id))
      const temporary = yield* temporaryFolderFor(spec)
      yield* give(spec.root, userId)
      if (!temporary.startsWith(spec.root)) yield* give(temporary, userId)
      const open: OpenSandbox = {
        root: spec.root,
        temporary,
        spawn: (command) =>
          spawnSupervised(
            host,
            {
              command,
              cwd: join(spec.root, command.cwd),
              confinement: landlockOf(host, {
                spec,
                command,
                temporary,
                user: { userId, groups: [traversal.group] },
                filters
              }),
              ownProcessCount: true,
              limits
            },
            {
              processNote: spec.processNote,
              killStragglers: endAllOf(host, setpriv, userId),
              guard,
              elsewhere: outside(spec, temporary)
            }
          )
      }
      return open
    })
  }
  return level
})

/**
 * Executes each run as a separate user, without capabilities, in a Landlock domain and behind a system call filter. Requires
 * root. `userIds` reserves the ids for this server.
 */
export const userLandlockRung = (host: LevelHost, userIds: Effect.Effect<UserIdRange | undefined>): Rung => ({
  level: "user_landlock",
  attempt: Effect.gen(function* (): Effect.fn.Return<Verdict> {
    const missing = (what: string): Verdict => ({ _tag: "unavailable", reason: `A user for each run: ${what}.` })
    if (process.platform !== "linux") return missing("only done on Linux")
    if (process.geteuid?.() !== 0) return missing("takes root")
    if (Option.isNone(landlockFilters)) return missing("there is no filter of system calls for this processor")
    const setpriv = yield* findProgram(host.settings.setpriv)
    if (setpriv === undefined) return missing("setpriv was not found")
    const blocked = yield* untraversableAncestor(host.settings.dataFolder ?? host.ownFolder)
    if (Option.isSome(blocked)) return missing(`its user could not pass ${blocked.value}; give it mode 711`)
    const version = yield* kernelLandlock(host)
    if (version < truncationSince) {
      return missing(
        `version ${truncationSince} of Landlock is needed (Linux 6.2), and this kernel has ${version === 0 ? "none" : version}`
      )
    }
    const range = yield* userIds
    if (range === undefined) {
      return missing("other services of this machine have taken all user ids, or /run/svc-user-ids cannot be written")
    }
    const level = yield* levelOf(host, setpriv, landlockFilters.value, range)
    const deviations = yield* deviationsOf(host, level, { sharedProcessIds: true })
    return deviations === undefined
      ? {
          _tag: "works",
          level,
          reason:
            "Every run has a separate user id, and Landlock and a filter of system calls keep module code from files of the service."
        }
      : missing(deviations)
  })
})
