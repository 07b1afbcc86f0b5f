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

/** More rounds than a tool has generations of children; if processes multiply faster, this stops waiting. */
const mostRounds = 20

/** Ends the processes that work there now; returns their number. */
const endRound = Effect.fnUntraced(function* (folder: string) {
  const isWithin = (path: string) => path === folder || path.startsWith(`${folder}/`)
  const entries = yield* Effect.tryPromise(() => readdir("/proc")).pipe(Effect.orElseSucceed(() => []))
  const pids = entries.filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
  let ended = 0
  for (const pid of pids) {
    const cwd = yield* workingFolder(pid)
    const [program = "", ...args] = yield* commandLine(pid)
    if (!isWithin(cwd) && !(basename(program) === "bwrap" && args.some(isWithin))) continue
    ended++
    yield* Effect.try(() => process.kill(Number(pid), "SIGKILL")).pipe(Effect.ignore)
    // A killed process keeps its working folder until the kernel is done with it.
    yield* workingFolder(pid).pipe(Effect.repeat({ until: (left) => left !== cwd, times: 10_000 }))
  }
  return ended
})

/**
 * Ends every process that still works in a folder, and every sandbox made for it. A sandbox whose parent died while it
 * was being created waits forever, with its environment. Only Linux reveals the working folder of a process.
 */
export const endProcessesIn = (folder: string) =>
  // A child started after the list was read is in the next one.
  Effect.asVoid(Effect.repeat(endRound(folder), { until: (ended) => ended === 0, times: mostRounds }))
