import { Deferred, Effect } from "effect"
import type { KillAt } from "./CrashEnvironment.ts"
import { type NeverReady, type ServeOptions, serve, type ServerProcess } from "./ServerProcess.ts"

/** When to kill a server process: at a named point, or this many milliseconds after the process becomes ready. */
export type Kill = { readonly _tag: "at"; readonly at: KillAt } | { readonly _tag: "after"; readonly millis: number }

/** A server that is restarted after each kill, as a service manager would. */
export interface CrashHost {
  /** The process that currently responds, or the next process if none responds. */
  readonly current: Effect.Effect<ServerProcess, NeverReady>
  /** The number of kills so far. */
  readonly kills: () => number
  /** Stops the current process with SIGTERM and waits until it has drained. */
  readonly stop: Effect.Effect<number | null, NeverReady>
}

export const crashHost = Effect.fn("crashHost")(function* (
  options: Omit<ServeOptions, "killAt">,
  kills: ReadonlyArray<Kill>,
  hooks: { readonly dead: Effect.Effect<void>; readonly restarted: (server: ServerProcess) => Effect.Effect<void> }
) {
  let present = yield* Deferred.make<ServerProcess, NeverReady>()
  let killed = 0
  let stopping = false
  const isStopping = () => stopping

  const incarnation = Effect.fnUntraced(function* (kill: Kill | undefined, first: boolean) {
    const started = yield* Effect.result(serve({ ...options, killAt: kill?._tag === "at" ? kill.at : undefined }))
    if (started._tag === "Failure") {
      if (started.failure.signal !== "SIGKILL") return yield* started.failure
      killed++
      return
    }
    const server = started.success
    if (!first) yield* hooks.restarted(server)
    if (kill?._tag === "after")
      yield* Effect.forkScoped(
        Effect.andThen(
          Effect.sleep(kill.millis),
          Effect.suspend(() => (stopping ? Effect.void : server.signal("SIGKILL")))
        )
      )
    yield* Deferred.succeed(present, server)
    const end = yield* server.ended
    if (!stopping) present = yield* Deferred.make<ServerProcess, NeverReady>()
    if (end.signal === "SIGKILL" && !stopping) {
      killed++
      yield* hooks.dead
    }
  }, Effect.scoped)

  yield* Effect.gen(function* () {
    for (let index = 0; !isStopping(); index++) yield* incarnation(kills[index], index === 0)
  }).pipe(
    Effect.tapCause((cause) => Deferred.failCause(present, cause)),
    Effect.ignoreCause,
    Effect.forkScoped
  )

  const current = Effect.suspend(() => Deferred.await(present))
  const host: CrashHost = {
    current,
    kills: () => killed,
    stop: Effect.gen(function* () {
      const server = yield* current
      stopping = true
      yield* server.signal("SIGTERM")
      return (yield* server.ended).code
    })
  }
  return host
})
