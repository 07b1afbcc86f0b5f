import { readdir, readFile, readlink } from "node:fs/promises"
import { basename } from "node:path"
import { Effect } from "effect"

const workingFolder = (pid: string) =>
  Effect.tryPromise(() => readlink(`/proc/${pid}/cwd`)).pipe(Effect.orElseSucceed(() => ""))

const commandLine = (pid: string) =>
  Effect.tryPromise(() => readFile(`/proc/${pid}/cmdline`, "utf8")).pipe(
    Effect.map((text) => text.split("\0")),
    Effect.orElseSucceed(() => [])
  )

/**
 * Ends every process that still works in a folder, and every sandbox that was made for it. Without bubblewrap a tool outlives a crash of
 * the service; it must be gone before its state is read. A sandbox whose own parent died while it was being made waits for ever, with the
 * run's environment. Only Linux tells where a process works.
 */
export const endProcessesIn = Effect.fnUntraced(function* (folder: string) {
  const isWithin = (path: string) => path === folder || path.startsWith(`${folder}/`)
  const entries = yield* Effect.tryPromise(() => readdir("/proc")).pipe(Effect.orElseSucceed(() => []))
  const pids = entries.filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
  for (const pid of pids) {
    const cwd = yield* workingFolder(pid)
    const [program = "", ...args] = yield* commandLine(pid)
    if (!isWithin(cwd) && !(basename(program) === "bwrap" && args.some(isWithin))) continue
    yield* Effect.try(() => process.kill(Number(pid), "SIGKILL")).pipe(Effect.ignore)
    // A killed process keeps its working folder until the kernel is done with it.
    yield* workingFolder(pid).pipe(Effect.repeat({ until: (left) => left !== cwd, times: 10_000 }))
  }
})
