import { statfs } from "node:fs/promises"
import { Effect, FileSystem, Option } from "effect"

export const memoryDisk = "/dev/shm"
const roomNeeded = 4 * 1024 ** 3

/** Returns true if the mount table contains, at this path, a writable file system from which programs can be executed. */
export const startsPrograms = (mounts: string, place: string): boolean => {
  // Use the last match, because a later mount hides earlier mounts.
  const [, , , options = ""] =
    mounts
      .split("\n")
      .map((line) => line.split(" "))
      .findLast(([, at]) => at === place) ?? []
  const words = options.split(",")
  return words.includes("rw") && !words.includes("noexec")
}

/** Returns the memory available to programs, in bytes, from the text of /proc/meminfo. */
export const availableMemory = (meminfo: string): number =>
  Number(/^MemAvailable:\s+(\d+) kB$/m.exec(meminfo)?.[1] ?? 0) * 1024

/**
 * Creates a folder in memory and removes it when the scope closes. Returns none if the machine has no suitable file system or not
 * enough memory.
 */
export const folderInMemory = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const mounts = yield* files.readFileString("/proc/mounts")
  const free = availableMemory(yield* files.readFileString("/proc/meminfo"))
  const { bavail, bsize } = yield* Effect.tryPromise(() => statfs(memoryDisk))
  if (!startsPrograms(mounts, memoryDisk) || Math.min(free, bavail * bsize) < roomNeeded) return Option.none<string>()
  const folder = yield* files.makeTempDirectoryScoped({ directory: memoryDisk, prefix: "svc-test-" })
  // Use the same mode as /tmp, because sandboxes with other user ids have to traverse the folder.
  yield* files.chmod(folder, 0o1777)
  return Option.some(folder)
}).pipe(Effect.orElseSucceed(() => Option.none<string>()))
