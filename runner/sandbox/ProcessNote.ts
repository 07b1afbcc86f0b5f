import { appendFile, readdir, readFile } from "node:fs/promises"
import { Effect, Option, Schedule, Schema } from "effect"

/** Identifies a process uniquely. The system reuses process ids, but never with the same start time. */
const NotedProcess = Schema.fromJsonString(Schema.Struct({ pid: Schema.Int, startTicks: Schema.String }))
type NotedProcess = typeof NotedProcess.Type

const encode = Schema.encodeEffect(NotedProcess)
const decode = Schema.decodeUnknownOption(NotedProcess)

interface ProcessStat {
  readonly parent: number
  readonly state: string
  readonly startTicks: string
}

/**
 * Parses `/proc/PID/stat`. The name in parentheses may contain anything, so fields are counted from the closing parenthesis.
 */
const readStat = (pid: number) =>
  Effect.tryPromise(() => readFile(`/proc/${pid}/stat`, "latin1")).pipe(
    Effect.map((text): ProcessStat => {
      const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
      return { state: fields[0] ?? "", parent: Number(fields[1]), startTicks: fields[19] ?? "" }
    }),
    Effect.option
  )

const isDead = ({ state }: ProcessStat) => state === "Z" || state === "X"

/**
 * Appends processes to a file, one per line, so that a server that restarts after a crash can find them.
 */
export const noteProcess = Effect.fnUntraced(
  function* (file: string, pid: number) {
    const stat = yield* readStat(pid)
    if (Option.isNone(stat)) return
    const line = yield* encode({ pid, startTicks: stat.value.startTicks })
    yield* Effect.tryPromise(() => appendFile(file, `${line}\n`, { mode: 0o600 }))
  },
  (effect) => Effect.ignore(effect)
)

/** Records a process in the Run's process note, if the Run has one. */
export const notedIn =
  (file: string | undefined) =>
  (pid: number): Effect.Effect<void> =>
    file === undefined ? Effect.void : noteProcess(file, pid)

const stillRuns = ({ pid, startTicks }: NotedProcess) =>
  Effect.map(
    readStat(pid),
    Option.exists((stat) => stat.startTicks === startTicks && !isDead(stat))
  )

const signal = (pid: number, name: "SIGTERM" | "SIGKILL") => Effect.ignore(Effect.try(() => process.kill(pid, name)))

/** Returns all descendants of a process, regardless of their group or session. */
const descendants = Effect.fnUntraced(function* (root: number) {
  const names = yield* Effect.tryPromise(() => readdir("/proc")).pipe(Effect.orElseSucceed(() => []))
  const entries = yield* Effect.forEach(names.filter((name) => /^\d+$/.test(name)).map(Number), (pid) =>
    Effect.map(readStat(pid), (stat) => ({ pid, stat }))
  )
  const found = new Set([root])
  for (let before = 0; before !== found.size; ) {
    before = found.size
    for (const { pid, stat } of entries) {
      if (Option.isSome(stat) && found.has(stat.value.parent)) found.add(pid)
    }
  }
  found.delete(root)
  return [...found]
})

const readNote = (file: string) =>
  Effect.tryPromise(() => readFile(file, "utf8")).pipe(
    Effect.map((text) => text.split("\n").flatMap((line) => Option.toArray(decode(line)))),
    Effect.orElseSucceed(() => [])
  )

const looksUntilForce = 100
const betweenLooks = "20 millis"

/**
 * Terminates the supervisors recorded in a file, and their descendants. A supervisor exits when its server is gone; if the
 * supervisor takes too long, svc kills it. Ignores ids that now belong to other processes.
 */
export const endNotedProcesses = Effect.fnUntraced(function* (file: string) {
  for (const process of yield* readNote(file)) {
    if (!(yield* stillRuns(process))) continue
    yield* signal(process.pid, "SIGTERM")
    const runs = yield* stillRuns(process).pipe(
      Effect.delay(betweenLooks),
      Effect.repeat({ until: (running) => !running, times: looksUntilForce })
    )
    if (!runs) continue
    for (const pid of yield* descendants(process.pid)) yield* signal(pid, "SIGKILL")
    if (yield* stillRuns(process)) yield* signal(process.pid, "SIGKILL")
  }
})

/** Maximum number of rounds, which exceeds the depth of any tool's process tree. */
const mostRounds = 100

/** Kills all descendants of a recorded process, and then the process. Returns the number of processes that were still alive. */
const killTree = Effect.fnUntraced(function* (noted: NotedProcess) {
  if (!(yield* stillRuns(noted))) return 0
  const below = yield* descendants(noted.pid)
  for (const pid of below) yield* signal(pid, "SIGKILL")
  // Kill the supervisor last, because it adopts orphaned descendants.
  if (below.length === 0) yield* signal(noted.pid, "SIGKILL")
  return below.length + 1
})

/** Kills the processes recorded in a file and their descendants immediately, without giving them time to exit. */
export const killNotedProcesses = Effect.fnUntraced(function* (file: string) {
  const noted = yield* readNote(file)
  yield* Effect.forEach(noted, killTree).pipe(
    Effect.map((met) => met.reduce((sum, one) => sum + one, 0)),
    Effect.repeat({ until: (met) => met === 0, times: mostRounds, schedule: Schedule.spaced(betweenLooks) })
  )
})
