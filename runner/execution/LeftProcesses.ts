import { readdir, readlink } from "node:fs/promises"
import { Effect } from "effect"

const workingFolder = (pid: string) =>
  Effect.tryPromise(() => readlink(`/proc/${pid}/cwd`)).pipe(Effect.orElseSucceed(() => ""))

/**
 * Ends every process that still works in a folder. Without bubblewrap a tool outlives a crash of the service; it must be gone before
 * its state is read. Only Linux tells where a process works.
 */
export const endProcessesIn = Effect.fnUntraced(function* (folder: string) {
  const entries = yield* Effect.tryPromise(() => readdir("/proc")).pipe(Effect.orElseSucceed(() => []))
  const pids = entries.filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
  for (const pid of pids) {
    const cwd = yield* workingFolder(pid)
    if (cwd !== folder && !cwd.startsWith(`${folder}/`)) continue
    yield* Effect.try(() => process.kill(Number(pid), "SIGKILL")).pipe(Effect.ignore)
    // A killed process keeps its working folder until the kernel is done with it.
    yield* workingFolder(pid).pipe(Effect.repeat({ until: (left) => left !== cwd, times: 10_000 }))
  }
})
