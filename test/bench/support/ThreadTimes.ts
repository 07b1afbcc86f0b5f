import { Effect, FileSystem } from "effect"

// Kernel clock ticks per second; 100 on every Linux system.
const millisPerTick = 10
const nanosPerMilli = 1e6

/**
 * Returns, in milliseconds, the total CPU time of all threads of a process so far, and the time that its main thread was
 * ready to run while the cores were busy. The kernel counts both, so the bench can distinguish a slow service from a
 * response that another process delayed.
 */
export const threadTimes = Effect.fnUntraced(function* (pid: number) {
  const files = yield* FileSystem.FileSystem
  const status = yield* files.readFileString(`/proc/${pid}/stat`)
  const fields = status.slice(status.lastIndexOf(")") + 2).split(" ")
  const scheduling = yield* files.readFileString(`/proc/${pid}/schedstat`)
  return {
    processor: (Number(fields[11]) + Number(fields[12])) * millisPerTick,
    waiting: Number(scheduling.split(" ")[1]) / nanosPerMilli
  }
})
