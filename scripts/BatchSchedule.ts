import { Effect, Option } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { findOnPath } from "../runner/toolchain/ToolSearch.ts"

/**
 * Returns a command prefix that runs the command and all its children under the kernel's batch policy. With this policy, a
 * process that wakes up waits for its turn and does not preempt the running process. Test processes and their children keep
 * all cores busy, and would otherwise spend a tenth of their CPU time on preemption. Empty if the machine does not support
 * the policy.
 */
export const batchSchedule = Effect.fn("batchSchedule")(function* (searchPath: string) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const found = yield* findOnPath(searchPath, "chrt")
  if (Option.isNone(found)) return []
  const { path } = found.value
  // Try the policy once, because a container may refuse the system call.
  const attempt = ChildProcess.make(path, ["--batch", "0", path, "--max"], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore"
  })
  const code = yield* Effect.orElseSucceed(spawner.exitCode(attempt), () => 1)
  return Number(code) === 0 ? [path, "--batch", "0"] : []
})
