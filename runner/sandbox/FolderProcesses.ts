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
 * Maximum number of rounds, which exceeds the depth of any tool's process tree. If processes still start children after this
 * many rounds, svc gives up.
 */
const mostRounds = 20

/** Kills the processes whose working folder is inside the given folder. Returns the number of killed processes. */
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
    // Wait until the kernel has released the working folder of the killed process.
    yield* workingFolder(pid).pipe(Effect.repeat({ until: (left) => left !== cwd, times: 10_000 }))
  }
  return ended
})

/**
 * Kills every process that works in a folder, and every sandbox created for it. If the process that was creating a sandbox
 * has died, the sandbox would otherwise wait forever, with its environment in memory. Works only on Linux, because other
 * systems do not show a process's working folder.
 */
export const endProcessesIn = (folder: string) =>
  // Repeat until no process is left, because a process may start a child after the list was read.
  Effect.asVoid(Effect.repeat(endRound(folder), { until: (ended) => ended === 0, times: mostRounds }))
