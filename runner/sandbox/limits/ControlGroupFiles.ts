import { join } from "node:path"
import { readKernelFile } from "./KernelFile.ts"
import type { RunBounds } from "./LimitExceeded.ts"

/** A file in a group that counts how often a limit was hit. */
export interface HitCounter {
  readonly file: string
  readonly key: string
  readonly limit: "memory_limit" | "process_limit"
}

/** The folder in which each Run gets a group, and the settings of these groups. Version 1 has one folder per controller. */
export interface GroupPlace {
  readonly folder: string
  /**
   * The file to which a single-threaded process writes 0 to join. Moving a process with all its threads through
   * `cgroup.procs` blocks every process start and exit on the machine for some 15 ms, while the kernel synchronises all
   * processors. A thread that moves itself does not wait, but version 2 cannot move a single thread if memory is limited.
   */
  readonly joinFile: "cgroup.procs" | "tasks"
  readonly required: ReadonlyArray<readonly [file: string, value: string]>
  /** Settings that some kernels lack, so failures to write them are ignored. */
  readonly optional: ReadonlyArray<readonly [file: string, value: string]>
  readonly counters: ReadonlyArray<HitCounter>
  /** Writing to this file kills all processes in the group. The file does not exist in version 1. */
  readonly killFile: string | undefined
}

/** Returns this process's groups, keyed by controller. The key of the single hierarchy of version 2 is "". */
export const ownGroupFolder = (
  controller: string,
  groups = readKernelFile("/proc/self/cgroup") ?? "",
  mounts = readKernelFile("/proc/self/mountinfo") ?? ""
): string | undefined => {
  const group = groups
    .split("\n")
    .map((line) => /^\d+:([^:]*):(\/.*)$/.exec(line))
    .find((line) => line?.[1]?.split(",").includes(controller) === true)?.[2]
  const wanted = controller === "" ? "cgroup2" : "cgroup"
  const mount = mounts.split("\n").flatMap((line) => {
    const [left = "", right = ""] = line.split(" - ")
    const [, , , root = "", point = ""] = left.split(" ")
    const [type, , options = ""] = right.split(" ")
    return type === wanted && (controller === "" || options.split(",").includes(controller)) ? [{ root, point }] : []
  })[0]
  if (group === undefined || mount === undefined || group.includes("..")) return undefined
  const below = mount.root === "/" || !group.startsWith(mount.root) ? group : group.slice(mount.root.length)
  return join(mount.point, below)
}

export const unifiedPlace = (folder: string, { memoryBytes, processes }: RunBounds): GroupPlace => ({
  folder,
  joinFile: "cgroup.procs",
  required: [
    ["memory.max", String(memoryBytes)],
    ["pids.max", String(processes)]
  ],
  optional: [
    ["memory.swap.max", "0"],
    // When memory runs out, kill the entire group: a Run that has lost a process cannot usefully continue.
    ["memory.oom.group", "1"]
  ],
  counters: [
    { file: "memory.events", key: "oom_kill", limit: "memory_limit" },
    { file: "pids.events", key: "max", limit: "process_limit" }
  ],
  killFile: "cgroup.kill"
})

export const memoryPlace = (folder: string, { memoryBytes }: RunBounds): GroupPlace => ({
  folder,
  joinFile: "tasks",
  required: [["memory.limit_in_bytes", String(memoryBytes)]],
  optional: [["memory.memsw.limit_in_bytes", String(memoryBytes)]],
  counters: [{ file: "memory.oom_control", key: "oom_kill", limit: "memory_limit" }],
  killFile: undefined
})

export const processesPlace = (folder: string, { processes }: RunBounds): GroupPlace => ({
  folder,
  joinFile: "tasks",
  required: [["pids.max", String(processes)]],
  optional: [],
  counters: [{ file: "pids.events", key: "max", limit: "process_limit" }],
  killFile: undefined
})

/** Returns the number of times that a limit was hit, from a file with lines such as `oom_kill 1`. */
export const hitsIn = (text: string, key: string): number =>
  Number(new RegExp(`^${key} (\\d+)$`, "m").exec(text)?.[1] ?? 0)
