import { appendFileSync, existsSync, readFileSync } from "node:fs"
import { Effect, Fiber, Schedule } from "effect"
import { encodeCrashEnvironment, type KillAt } from "../../crash/CrashEnvironment.ts"
import type { AgentWorld } from "../../agents/support/AgentWorld.ts"
import type { Started } from "../../agents/support/Processes.ts"
import type { Balancer } from "../line/Balancer.ts"
import type { TcpLine } from "../line/TcpLine.ts"

type Served = Started & { readonly url: string }

/**
 * Settings for a single server process: the point at which it is killed, and the number of milliseconds by which its clock
 * is ahead.
 */
export interface Life {
  readonly at?: KillAt
  readonly clockOffset?: number
}

/** Returns the environment of this suite's server program. */
export const nodeEnvironment = (life: Life) => ({
  SVC_TEST_CRASH: encodeCrashEnvironment({ usualRechecks: true, ...life })
})

/** Returns the kernel's letter for the state of a process. */
const stateOf = (pid: number) => {
  const file = `/proc/${pid}/stat`
  const text = existsSync(file) ? readFileSync(file, "utf8") : ""
  return text.slice(text.lastIndexOf(")") + 2)[0]
}

/** Runs a server, and restarts it whenever it exits, as a service manager would. */
export const serverNode = Effect.fn("serverNode")(function* (parts: {
  readonly name: string
  readonly folder: string
  readonly world: Pick<AgentWorld, "serveIn">
  readonly balancer: Balancer
  readonly database: TcpLine
  readonly environment: (life: Life) => Readonly<Record<string, string>>
  /** The server that is already running in this folder. */
  readonly first?: Served
  readonly history: string
}) {
  const { balancer, database, environment, folder, name, world } = parts
  let current: Served | undefined
  let next: Life = {}
  let starts = 0
  let isWanted = true
  /** The program of all later processes, if it is not the first one. */
  let program: string | undefined
  const note = (what: string) => appendFileSync(parts.history, `${new Date().toISOString()} ${name} ${what}\n`)

  const untilEnd = (served: Served) =>
    Effect.gen(function* () {
      current = served
      starts += 1
      note(`serves at ${served.url} as process ${served.pid}`)
      balancer.join(served.url)
      const code = yield* Effect.promise(() => served.exited)
      note(`ended with ${code}`)
      balancer.leave(served.url)
      current = undefined
    })
  const life = Effect.suspend(() => {
    if (!isWanted) return Effect.void
    const present = next
    next = {}
    return Effect.scoped(Effect.flatMap(world.serveIn(folder, environment(present), program), untilEnd))
  }).pipe(Effect.catchCause((cause) => Effect.sync(() => note(`did not start: ${cause}`))))

  const lives = Effect.repeat(life, Schedule.spaced("200 millis"))
  const fiber = yield* Effect.forkScoped(
    parts.first === undefined ? lives : Effect.andThen(untilEnd(parts.first), lives)
  )
  const serving: Effect.Effect<Served> = Effect.suspend(() =>
    current === undefined ? Effect.andThen(Effect.sleep("50 millis"), serving) : Effect.succeed(current)
  )
  const signal = (kind: "SIGTERM" | "SIGKILL" | "SIGSTOP" | "SIGCONT") =>
    Effect.sync(() => {
      note(kind)
      current?.signal(kind)
    })
  const ended = Effect.suspend(() => Effect.promise(() => current?.exited ?? Promise.resolve(0)))

  /** Stops the server as an upgrade does, and starts it again. `life` applies only to the next process. */
  const restarted = Effect.fnUntraced(function* (life: Life = {}) {
    const before = starts
    next = life
    yield* signal("SIGTERM")
    yield* ended
    yield* Effect.repeat(
      Effect.sync(() => starts > before),
      { until: (isSo) => isSo, schedule: Schedule.spaced("50 millis") }
    )
  })

  return {
    name,
    folder,
    database,
    url: () => current?.url,
    starts: () => starts,
    /** Returns true if the server is frozen by a signal. */
    isStopped: () => current !== undefined && stateOf(current.pid) === "T",
    serving,
    signal,
    restarted,
    /** Stops the server, and starts another program with its folder. */
    replaced: (by: string) =>
      Effect.suspend(() => {
        program = by
        return restarted()
      }),
    /** Stops the server permanently. */
    end: Effect.gen(function* () {
      isWanted = false
      yield* signal("SIGCONT")
      yield* signal("SIGTERM")
      yield* ended
      yield* Fiber.interrupt(fiber)
    })
  }
})
export type ServerNode = Effect.Success<ReturnType<typeof serverNode>>
