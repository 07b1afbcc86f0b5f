import { existsSync, mkdirSync, readdirSync, rmdirSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { Effect, Result, Schedule, type Scope } from "effect"
import {
  type GroupPlace,
  hitsIn,
  memoryPlace,
  ownGroupFolder,
  processesPlace,
  unifiedPlace
} from "./ControlGroupFiles.ts"
import { readKernelFile, writeKernelFile } from "./KernelFile.ts"
import type { RunBounds } from "./LimitExceeded.ts"
import { listProcesses, processTree } from "./ProcessTree.ts"

/** A control group that contains all processes of one Run. */
export interface ControlGroup {
  /** The files to which a single-threaded process writes 0 to join. */
  readonly join: ReadonlyArray<string>
  /** The limit that the Run hit, if any. */
  readonly hit: Effect.Effect<"memory_limit" | "process_limit" | undefined>
  /** Kills all processes in the group, regardless of their parent, session or user. */
  readonly endAll: Effect.Effect<void>
}

export interface ControlGroups {
  readonly version: 1 | 2
  /** Creates a group and removes it when the scope closes. Returns `undefined` if the kernel refuses. */
  readonly make: (bounds: RunBounds) => Effect.Effect<ControlGroup | undefined, never, Scope.Scope>
}

/** The group to which the server moves itself, because a group with subgroups may not contain processes. */
const serviceGroup = "svc-service"
const runPrefix = "svc-run-"

const isDone = (evaluate: () => void) => Result.isSuccess(Result.try(evaluate))
const processesOf = (folder: string) =>
  (readKernelFile(join(folder, "cgroup.procs")) ?? "").split("\n").filter((pid) => pid !== "")

const makeFolder = ({ folder, required, optional }: GroupPlace, name: string): string | undefined => {
  const group = join(folder, name)
  if (!isDone(() => mkdirSync(group))) return undefined
  const isLimited = required.every(([file, value]) => writeKernelFile(join(group, file), value))
  if (!isLimited) {
    isDone(() => rmdirSync(group))
    return undefined
  }
  for (const [file, value] of optional) {
    if (existsSync(join(group, file))) writeKernelFile(join(group, file), value)
  }
  return group
}

/** Retry, because a group cannot be removed while the kernel is still terminating its processes. */
const removeFolder = (group: string) =>
  Effect.try(() => rmdirSync(group)).pipe(
    Effect.retry({ schedule: Schedule.spaced("20 millis"), times: 100 }),
    Effect.ignore
  )

const mostRounds = 50

const endAllIn = (group: string, killFile: string | undefined) =>
  Effect.gen(function* () {
    if (killFile !== undefined && writeKernelFile(join(group, killFile), "1")) return
    for (let round = 0; round < mostRounds; round++) {
      const pids = processesOf(group)
      if (pids.length === 0) return
      for (const pid of pids) isDone(() => process.kill(Number(pid), "SIGKILL"))
      yield* Effect.yieldNow
    }
  })

let made = 0

/** Creates groups in folders that a probe has found usable. */
export const groupsIn = (
  version: 1 | 2,
  placesFor: (bounds: RunBounds) => ReadonlyArray<GroupPlace>
): ControlGroups => ({
  version,
  make: Effect.fnUntraced(function* (bounds: RunBounds) {
    const places = placesFor(bounds)
    const name = `${runPrefix}${process.pid}-${made++}`
    const groups = yield* Effect.acquireRelease(
      Effect.sync(() =>
        places.flatMap((place) => {
          const group = makeFolder(place, name)
          return group === undefined ? [] : [{ place, group }]
        })
      ),
      (held) => Effect.forEach(held, ({ group }) => removeFolder(group), { discard: true })
    )
    if (groups.length < places.length) return undefined
    return {
      join: groups.map(({ group, place }) => join(group, place.joinFile)),
      hit: Effect.sync(
        () =>
          groups
            .flatMap(({ group, place }) => place.counters.map((counter) => ({ group, ...counter })))
            .find(({ file, group, key }) => hitsIn(readKernelFile(join(group, file)) ?? "", key) > 0)?.limit
      ),
      endAll: Effect.forEach(groups, ({ group, place }) => endAllIn(group, place.killFile), { discard: true })
    }
  })
})

/**
 * Removes the empty groups of killed servers. Groups that still have processes remain, because the kernel does not allow
 * them to be removed.
 */
const sweep = (folder: string) => {
  const names = Result.getOrElse(
    Result.try(() => readdirSync(folder)),
    () => []
  )
  for (const name of names) {
    const [, owner] = /^svc-run-(\d+)-\d+$/.exec(name) ?? []
    if (owner !== undefined && !existsSync(`/proc/${owner}`)) isDone(() => rmdirSync(join(folder, name)))
  }
}

const isUsable = (place: GroupPlace) => {
  sweep(place.folder)
  const group = makeFolder(place, `${runPrefix}${process.pid}-${made++}`)
  return group !== undefined && isDone(() => rmdirSync(group))
}

const hasControllers = (text: string | undefined) => {
  const names = (text ?? "").trim().split(" ")
  return names.includes("memory") && names.includes("pids")
}

const giveControllers = (folder: string) => {
  writeKernelFile(join(folder, "cgroup.subtree_control"), "+memory +pids")
  return hasControllers(readKernelFile(join(folder, "cgroup.subtree_control")))
}

/**
 * Moves this process and its children to a subgroup. If the group has other members, such as a login session, it was not
 * delegated to this server, so nothing is changed.
 */
const moveAside = Effect.fnUntraced(function* (folder: string) {
  const own = new Set(processTree(yield* listProcesses, process.pid).map(({ pid }) => String(pid)))
  const members = processesOf(folder)
  if (members.some((pid) => !own.has(pid))) return false
  const aside = join(folder, serviceGroup)
  if (!existsSync(aside) && !isDone(() => mkdirSync(aside))) return false
  for (const pid of members) writeKernelFile(join(aside, "cgroup.procs"), pid)
  return true
})

const probeUnified = Effect.fnUntraced(function* (bounds: RunBounds) {
  const own = ownGroupFolder("")
  if (own === undefined) return undefined
  const folder = basename(own) === serviceGroup ? dirname(own) : own
  if (!hasControllers(readKernelFile(join(folder, "cgroup.controllers")))) return undefined
  if (!giveControllers(folder)) {
    if (!(yield* moveAside(folder)) || !giveControllers(folder)) return undefined
  }
  const places = (bounds: RunBounds) => [unifiedPlace(folder, bounds)]
  return places(bounds).every(isUsable) ? groupsIn(2, places) : undefined
})

const probeFirstVersion = (bounds: RunBounds): ControlGroups | undefined => {
  const memory = ownGroupFolder("memory")
  const processes = ownGroupFolder("pids")
  if (memory === undefined || processes === undefined) return undefined
  const places = (bounds: RunBounds) => [memoryPlace(memory, bounds), processesPlace(processes, bounds)]
  return places(bounds).every(isUsable) ? groupsIn(1, places) : undefined
}

/** Tests whether this process may create groups with limits. Returns `undefined` if it may not. */
export const probeControlGroups = Effect.fn("ControlGroups.probe")(function* (bounds: RunBounds) {
  return (yield* probeUnified(bounds)) ?? probeFirstVersion(bounds)
})
