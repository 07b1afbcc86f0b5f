import { Effect, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"

// The lowest real-time priority: above every ordinary process, below the system's own real-time threads.
const priority = "1"

/**
 * Gives these processes, their threads and their future children a core whenever they need it. Otherwise the 99th percentile
 * of short responses would measure how long the scheduler lets another process finish its 3 ms slice. This happens even on
 * an idle machine, because a runtime's collector and compilers also run in threads. Both servers in a comparison get this
 * priority. Returns true if the machine permits it, which requires Linux and the permission.
 */
export const atRealTimePriority = Effect.fn("atRealTimePriority")(function* (pids: ReadonlyArray<number>) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const given = yield* Effect.forEach(pids, (pid) =>
    Effect.gen(function* () {
      const changing = yield* spawner.spawn(ChildProcess.make("chrt", ["-a", "-r", "-p", priority, String(pid)]))
      yield* Stream.runDrain(changing.all)
      return Number(yield* changing.exitCode) === 0
    }).pipe(
      Effect.scoped,
      // If the program that changes priorities is not installed, no process gets a real-time priority.
      Effect.catchTag("PlatformError", () => Effect.succeed(false))
    )
  )
  return given.every((one) => one)
})
