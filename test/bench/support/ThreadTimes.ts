import { Effect, FileSystem } from "effect"

// Kernel clock ticks; every Linux has a hundred per second.
const millisPerTick = 10
const nanosPerMilli = 1e6

/**
 * Milliseconds so far: the processor time of all threads of a process, and how long its main thread was ready to run while the cores
 * did something else. The kernel counts both, so another process that delays an answer can be told from a service that is slow.
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
