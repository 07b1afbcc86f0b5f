import { Clock, Duration, Effect, Ref, Schedule, type Scope, Semaphore } from "effect"
import type { ChildProcessSpawner } from "effect/process"
import type { RunLimitCode } from "../../../schema/records/RunConfinement.ts"
import type { CommandLine } from "../CommandLine.ts"
import type { LimitKeeper } from "../SandboxStatus.ts"
import { type ControlGroup, type ControlGroups, probeControlGroups } from "./ControlGroups.ts"
import { diskSpace, type FolderUse, folderUse } from "./FolderSize.ts"
import { type LimitExceeded, limitExceeded, type RunBounds } from "./LimitExceeded.ts"
import { privateFileSystems } from "./PrivateFileSystems.ts"
import { listProcesses, processTree, usesMoreThan } from "./ProcessTree.ts"
import { launchedIn } from "./RunLauncher.ts"

/** One of a Run's programs, with the data that limits need. */
export interface LimitedProgram {
  readonly pid: number
  /** True if this process only supervises the program; it then runs outside the limits. */
  readonly isSupervisor: boolean
  /** Folders outside of the Run's root that the program may fill. */
  readonly elsewhere: ReadonlyArray<string>
  /** A process that can access the private file systems; the program itself if none exist. */
  readonly inside: Effect.Effect<number>
  readonly interrupt: Effect.Effect<void>
  readonly kill: Effect.Effect<void>
}

/** The limits of one Run. `around` starts every program of the Run, and `watch` watches it. */
export interface RunGuard {
  readonly around: (commandLine: CommandLine) => CommandLine
  /**
   * Until the Scope closes, stops the program if the Run exceeds a limit. Returns a check to run after the program has exited,
   * which reports the limit that stopped it, if any.
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
  /** Never fails: if no group can be created, svc watches the Run instead. `own` holds the limits of this Run. */
  readonly guard: (root: string, own: RunBounds) => Effect.Effect<RunGuard, never, Scope.Scope>
}

/** The interval for checking fast-changing values; shorter at first, because many programs exit soon. */
const looks = Schedule.min([Schedule.exponential("25 millis"), Schedule.spaced("250 millis")])
/** The interval for checking the free space, and the time that a stopped Run has to release its folder. */
const floorPause = Duration.millis(500)
const reliefPause = Duration.seconds(3)
/** The interval for measuring the run folder; the pause is at least this many times the duration of a measurement. */
const folderPause = 2000
const pauseFactor = 10
/** An interrupted tool saves its state first, but a tool that continues to fill its folder has only this time. */
const longestFarewell = Duration.seconds(5)
/** Minimum number of files that must still fit on the disk. */
const freeFiles = 100_000
/** On a small disk, the required free space is a fraction of the disk. */
const largestFloorPart = 0.05
/** Stopping a Run that uses less than this fraction of the floor would not help. */
const worthwhilePart = 0.1

interface Watched {
  readonly places: ReadonlyArray<string>
  readonly trip: (code: RunLimitCode) => Effect.Effect<void>
}

const keeperOf = (groups: ControlGroups | undefined): LimitKeeper =>
  groups === undefined ? "watching" : `control groups, version ${groups.version}`

/** Determines the method of enforcing limits on this machine. */
export const makeRunLimits = Effect.fn("RunLimits.make")(function* (
  spawner: ChildProcessSpawner.ChildProcessSpawner["Service"],
  bounds: RunBounds,
  mayGroup: boolean
): Effect.fn.Return<RunLimits> {
  const groups = mayGroup ? yield* probeControlGroups(bounds) : undefined
  const table = yield* Effect.cachedWithTTL(listProcesses, "100 millis")
  const watched = new Set<Watched>()
  const relieving = yield* Semaphore.make(1)

  /** When the disk is nearly full, stops the Run that uses the most of it, unless that would not help. */
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
        if (code === "folder_limit") {
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
        return code === undefined ? undefined : limitExceeded(code, own)
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
