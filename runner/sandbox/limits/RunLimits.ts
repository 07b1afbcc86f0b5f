import { Clock, Duration, Effect, Ref, Result, Schedule, type Scope, Semaphore } from "effect"
import type { ChildProcessSpawner } from "effect/process"
import type { RunLimitCode } from "../../../schema/records/RunConfinement.ts"
import type { CommandLine } from "../CommandLine.ts"
import type { LimitKeeper } from "../SandboxStatus.ts"
import { type ControlGroup, type ControlGroups, probeControlGroups } from "./ControlGroups.ts"
import { bytesOfFile, diskSpace, type FolderUse, folderUse } from "./FolderSize.ts"
import { type LimitExceeded, limitExceeded, type RunBounds } from "./LimitExceeded.ts"
import { listProcesses, processTree, usesMoreThan } from "./ProcessTree.ts"
import { launchedIn } from "./RunLauncher.ts"
import { closeSync, constants, openSync, statfsSync, statSync } from "node:fs"

/** Mount points of a sandbox's in-memory file systems with limited size. */
const privateFolders = [
  { path: "/tmp", limit: "tmp_limit", size: "tmpBytes" },
  { path: "/dev/shm", limit: "shm_limit", size: "shmBytes" }
] as const

type PrivateLimit = (typeof privateFolders)[number]["limit"]

const memoryFileSystem = 0x01021994

const attempt = <A>(evaluate: () => A): A | undefined => Result.getOrUndefined(Result.try(evaluate))

const deviceOf = (path: string) => attempt(() => statSync(path).dev)

const isOwn = (path: string, hostPath: string) =>
  attempt(() => statfsSync(path).type === memoryFileSystem && deviceOf(path) !== deviceOf(hostPath)) === true

interface Fill {
  /** Size of the contents, plus a fixed amount for each file. */
  readonly bytes: number
  /** True if no more blocks or files fit, even if the maximum size has not been reached. */
  readonly isFull: boolean
}

const fillOf = (fd: number): Fill =>
  attempt(() => {
    const { bavail, bfree, blocks, bsize, ffree, files } = statfsSync(`/proc/self/fd/${fd}`)
    return {
      bytes: (blocks - bfree) * bsize + (files - ffree) * bytesOfFile,
      isFull: (blocks > 0 && bavail === 0) || (files > 0 && ffree === 0)
    }
  }) ?? { bytes: 0, isFull: false }

interface Held {
  readonly fd: number
  readonly device: number
  /** Maximum size. svc enforces it, because some levels cannot set it on their file systems. */
  readonly maxBytes: number
}

interface PrivateFileSystems {
  /**
   * Finds the file systems through a process that can access them. Repeat this while the sandbox is being set up, because
   * other file systems may briefly be mounted at these paths.
   */
  readonly look: (pid: number) => Effect.Effect<void>
  /**
   * Memory that the contents use. This memory counts towards the Run's memory limit, although no process of the Run owns it.
   */
  readonly heldBytes: Effect.Effect<number>
  /**
   * Returns the first full file system. Works even after the process that filled it has exited, because all file systems have
   * open handles.
   */
  readonly full: Effect.Effect<PrivateLimit | undefined>
}

/** Watches the private file systems of one program. Closes its handles on them when the scope closes. */
const privateFileSystems = (
  own: Pick<RunBounds, "tmpBytes" | "shmBytes">
): Effect.Effect<PrivateFileSystems, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => new Map<PrivateLimit, Held>()),
      (held) => Effect.sync(() => held.forEach(({ fd }) => closeSync(fd)))
    ),
    (held) => ({
      look: (pid) =>
        Effect.sync(() => {
          for (const { limit, path, size } of privateFolders) {
            const inside = `/proc/${pid}/root${path}`
            const earlier = held.get(limit)
            const device = deviceOf(inside)
            if (device === undefined || device === earlier?.device || !isOwn(inside, path)) continue
            const fd = attempt(() =>
              openSync(inside, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
            )
            if (fd === undefined) continue
            if (earlier !== undefined) closeSync(earlier.fd)
            held.set(limit, { fd, device, maxBytes: own[size] })
          }
        }),
      heldBytes: Effect.sync(() => Array.from(held.values()).reduce((sum, { fd }) => sum + fillOf(fd).bytes, 0)),
      full: Effect.sync(
        () =>
          Array.from(held).find(([, { fd, maxBytes }]) => {
            const { bytes, isFull } = fillOf(fd)
            return isFull || bytes >= maxBytes
          })?.[0]
      )
    })
  )

/** A program of a Run, and the data needed to enforce the limits. */
export interface LimitedProgram {
  readonly pid: number
  /** True if this process only supervises the program. Supervisors are not limited. */
  readonly isSupervisor: boolean
  /** Folders outside the Run's root that the program may fill. */
  readonly elsewhere: ReadonlyArray<string>
  /** See `SandboxedCommand.isInstallation`. */
  readonly isInstallation: boolean
  /** A process that can access the private file systems, or the program itself if it has no private file systems. */
  readonly inside: Effect.Effect<number>
  readonly interrupt: Effect.Effect<void>
  readonly kill: Effect.Effect<void>
}

/** Enforces the limits of one Run. `around` starts each program of the Run, and `watch` watches it. */
export interface RunGuard {
  readonly around: (commandLine: CommandLine) => CommandLine
  /**
   * Until the scope closes, stops the program if the Run exceeds a limit. Returns an effect that reports the limit that
   * stopped the program, if any; run the effect after the program has exited.
   */
  readonly watch: (
    program: LimitedProgram
  ) => Effect.Effect<Effect.Effect<LimitExceeded | undefined>, never, Scope.Scope>
  /** Kills processes that have left the program's tree, if a control group tracks them. */
  readonly endAll: Effect.Effect<void>
}

export interface RunLimits {
  readonly bounds: RunBounds
  readonly keeper: LimitKeeper
  /** Creates a Run's limits from `own`. Never fails: if no group can be created, svc watches the Run instead. */
  readonly guard: (root: string, own: RunBounds) => Effect.Effect<RunGuard, never, Scope.Scope>
}

/**
 * Interval at which values that change quickly are checked. The first intervals are shorter, because many programs exit
 * quickly.
 */
const looks = Schedule.min([Schedule.exponential("25 millis"), Schedule.spaced("250 millis")])
/** Interval at which the free space is checked, and the time that a stopped Run has to release its folder. */
const floorPause = Duration.millis(500)
const reliefPause = Duration.seconds(3)
/**
 * Minimum interval between measurements of the run folder, and the minimum pause as a multiple of a measurement's duration.
 */
const folderPause = 2000
const pauseFactor = 10
/** Time that an interrupted tool has to save its state while its folder continues to grow. */
const longestFarewell = Duration.seconds(5)
/** Minimum number of files that must still fit on the disk. */
const freeFiles = 100_000
/** Maximum space to keep free, as a fraction of a small disk. */
const largestFloorPart = 0.05
/** Minimum size of a Run that svc stops, as a share of the required free space. Stopping a smaller Run would not help. */
const worthwhilePart = 0.1

interface Watched {
  readonly places: ReadonlyArray<string>
  readonly trip: (code: RunLimitCode) => Effect.Effect<void>
}

const keeperOf = (groups: ControlGroups | undefined): LimitKeeper =>
  groups === undefined ? "watching" : `control groups, version ${groups.version}`

/** Determines how limits are enforced on this machine. */
export const makeRunLimits = Effect.fn("RunLimits.make")(function* (
  spawner: ChildProcessSpawner.ChildProcessSpawner["Service"],
  bounds: RunBounds,
  mayGroup: boolean
): Effect.fn.Return<RunLimits> {
  const groups = mayGroup ? yield* probeControlGroups(bounds) : undefined
  const table = yield* Effect.cachedWithTTL(listProcesses, "100 millis")
  const watched = new Set<Watched>()
  const relieving = yield* Semaphore.make(1)

  /**
   * When the disk is almost full, stops the Run that uses the most space, unless stopping that Run would free too little
   * space.
   */
  const relieve = Effect.fnUntraced(function* (floor: number, used: (use: FolderUse) => number) {
    const sizes = yield* Effect.forEach(Array.from(watched), (run) =>
      Effect.map(folderUse(spawner, run.places), (use) => ({ run, size: used(use) }))
    )
    const [largest] = sizes.toSorted((one, other) => other.size - one.size)
    if (largest === undefined || largest.size < floor * worthwhilePart) return
    yield* largest.run.trip("disk_low")
    yield* Effect.sleep(reliefPause)
  })

  const keepFloor = Effect.fnUntraced(function* (root: string) {
    const space = yield* diskSpace(root)
    if (space === undefined) return
    const floor = Math.min(bounds.freeBytes, space.totalBytes * largestFloorPart)
    if (space.freeBytes < floor) yield* relieve(floor, ({ bytes }) => bytes)
    const leastFiles = Math.min(freeFiles, space.totalFiles * largestFloorPart)
    if (space.freeFiles < leastFiles) yield* relieve(leastFiles, ({ files }) => files)
  }, relieving.withPermitsIfAvailable(1))

  const guard = Effect.fnUntraced(function* (
    root: string,
    own: RunBounds
  ): Effect.fn.Return<RunGuard, never, Scope.Scope> {
    const group: ControlGroup | undefined = groups === undefined ? undefined : yield* groups.make(own)
    const hit = yield* Ref.make<LimitExceeded | undefined>(undefined)

    const counted = Effect.fnUntraced(function* ({ isSupervisor, pid }: LimitedProgram, heldBytes: number) {
      if (group !== undefined) return yield* group.hit
      const tree = processTree(yield* table, pid)
      const processes = isSupervisor ? tree.filter((listed) => listed.pid !== pid) : tree
      if (processes.reduce((sum, { threads }) => sum + threads, 0) >= own.processes) return "process_limit" as const
      return usesMoreThan(processes, own.memoryBytes - heldBytes) ? ("memory_limit" as const) : undefined
    })

    const watch = Effect.fnUntraced(function* (program: LimitedProgram) {
      const files = yield* privateFileSystems(own)
      const trip = Effect.fnUntraced(function* (code: RunLimitCode) {
        const isFirst = yield* Ref.modify(hit, (earlier) =>
          earlier === undefined ? [true, limitExceeded(code, own)] : [false, earlier]
        )
        if (!isFirst) return
        if (code === "folder_limit" && !program.isInstallation) {
          yield* program.interrupt
          yield* Effect.sleep(longestFarewell)
        }
        yield* program.kill
      })
      const places = [root, ...program.elsewhere]
      const self: Watched = { places, trip }
      yield* Effect.acquireRelease(
        Effect.sync(() => watched.add(self)),
        () => Effect.sync(() => watched.delete(self))
      )

      const look = Effect.gen(function* () {
        yield* files.look(yield* program.inside)
        const code = (yield* counted(program, yield* files.heldBytes)) ?? (yield* files.full)
        if (code !== undefined) yield* trip(code)
      })
      yield* look.pipe(Effect.schedule(looks), Effect.forkScoped)
      yield* keepFloor(root).pipe(Effect.schedule(Schedule.spaced(floorPause)), Effect.forkScoped)

      const measureFolder = Effect.gen(function* () {
        const started = yield* Clock.currentTimeMillis
        const { bytes } = yield* folderUse(spawner, places)
        if (bytes >= own.folderBytes) yield* trip("folder_limit")
        yield* Effect.sleep(Math.max(folderPause, pauseFactor * ((yield* Clock.currentTimeMillis) - started)))
      })
      yield* Effect.sleep(folderPause / 2).pipe(Effect.andThen(Effect.forever(measureFolder)), Effect.forkScoped)

      return Effect.gen(function* () {
        const earlier = yield* Ref.get(hit)
        if (earlier !== undefined) return earlier
        const code = (yield* group?.hit ?? Effect.undefined) ?? (yield* files.full)
        if (code !== undefined) return limitExceeded(code, own)
        // Measure again: an installation may write more than the limit and end between two measurements.
        if (!program.isInstallation) return undefined
        return (yield* folderUse(spawner, places)).bytes >= own.folderBytes
          ? limitExceeded("folder_limit", own)
          : undefined
      })
    })

    return {
      around: (commandLine) => launchedIn(group?.join ?? [], commandLine),
      watch,
      endAll: group?.endAll ?? Effect.void
    }
  })

  return { bounds, keeper: keeperOf(groups), guard }
})
