import { Effect, Option } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { findOnPath } from "../runner/toolchain/ToolSearch.ts"

/**
 * The words that start a command, and everything that it starts, under the kernel's batch policy: a process that wakes up waits for
 * its turn instead of preempting the one that is running. Test processes and their children keep all cores busy, and would otherwise
 * spend a tenth of their CPU time on preempting each other. Empty if the machine cannot do that.
 */
export const batchSchedule = Effect.fn("batchSchedule")(function* (searchPath: string) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const found = yield* findOnPath(searchPath, "chrt")
  if (Option.isNone(found)) return []
  const { path } = found.value
  // A container may refuse the system call.
  const attempt = ChildProcess.make(path, ["--batch", "0", path, "--max"], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore"
  })
  const code = yield* Effect.orElseSucceed(spawner.exitCode(attempt), () => 1)
  return Number(code) === 0 ? [path, "--batch", "0"] : []
})
