import { Context, Deferred, Effect, Exit, Layer, Option, Scope } from "effect"
import type { HeldRunOrder, RunClaim } from "../../schema/agent/AgentJob.ts"
import { AgentFolder } from "../../runner/agent/AgentFolder.ts"
import { Guard } from "../../runner/agent/guard/Guard.ts"
import type { Moment } from "../../runner/agent/LeaseClock.ts"
import { heldRun, isSameClaim, makeHandle, type RunHandle } from "../../runner/agent/RunHandle.ts"
import { adoptRoom, type AgentRunFolder } from "../../runner/agent/AgentRunFolder.ts"
import { openSpool } from "../../runner/agent/Spool.ts"

/** The server's response about a Run that this agent holds: the Run's status, and how much longer the agent may hold it. */
type Word = Pick<HeldRunOrder, "runId" | "fence" | "cancel"> & {
  readonly leaseSeconds?: number
  readonly acknowledged?: number
}

/** Resources that this process holds for a Run. */
type HeldWith = Pick<RunHandle, "room" | "lease" | "stage">

const opens = (given: HeldWith) =>
  Effect.flatMap(openSpool(given.room.spool), (spool) => makeHandle({ ...given, spool }))

/**
 * The Runs that this process holds.
 *
 * - `adopt`: takes over the Runs of earlier processes; these Runs are not confirmed yet
 * - `add`: opens and holds a Run, then returns while the work continues in the background; the Run is held until the work ends,
 *   and the resources that `opening` acquired are released afterwards; cannot be interrupted while `opening` runs; does
 *   nothing if `opening` returns `undefined`
 * - `confirm`, `end`: apply the server's response for the held Runs; `sent` is the time at which the request was sent
 * - `stopTools`: asks the tools of all held Runs to stop
 */
export class AgentRuns extends Context.Service<
  AgentRuns,
  {
    readonly all: () => ReadonlyArray<RunHandle>
    readonly working: () => number
    readonly adopt: (work: (handle: RunHandle) => Effect.Effect<void>) => Effect.Effect<void>
    readonly add: <E>(
      opening: Effect.Effect<HeldWith | undefined, E, Scope.Scope>,
      work: (handle: RunHandle) => Effect.Effect<void>
    ) => Effect.Effect<void, E>
    readonly holds: (claim: RunClaim) => boolean
    readonly confirm: (word: Word, sent: Moment) => Effect.Effect<void>
    readonly end: (order: HeldRunOrder) => Effect.Effect<void>
    readonly stopTools: Effect.Effect<void>
  }
>()("svc/src/agent/AgentRuns") {
  static readonly layer = Layer.effect(
    AgentRuns,
    Effect.gen(function* () {
      const folder = yield* AgentFolder
      const guard = yield* Guard
      const handles = new Set<RunHandle>()

      const of = (claim: RunClaim) => [...handles].find(({ room }) => isSameClaim(room.claim, claim))

      const scope = yield* Effect.scope
      const add = Effect.fnUntraced(function* <E>(
        opening: Effect.Effect<HeldWith | undefined, E, Scope.Scope>,
        work: (handle: RunHandle) => Effect.Effect<void>
      ) {
        const own = yield* Scope.fork(scope)
        const opened = yield* opening.pipe(
          Effect.flatMap((given) => (given === undefined ? Effect.undefined : opens(given))),
          Scope.provide(own),
          Effect.exit
        )
        if (Exit.isFailure(opened) || opened.value === undefined) {
          yield* Scope.close(own, opened)
          return yield* Effect.asVoid(opened)
        }
        const handle = opened.value
        handles.add(handle)
        yield* work(handle).pipe(
          Effect.onExit((exit) =>
            Effect.andThen(
              Effect.sync(() => handles.delete(handle)),
              Scope.close(own, exit)
            )
          ),
          Effect.forkIn(scope)
        )
      }, Effect.uninterruptible)

      const leftRoom = (room: AgentRunFolder): HeldWith => ({
        room,
        lease: undefined,
        stage: room.found.stage === "ended" ? "ended" : "left"
      })

      const openLeft = Effect.fnUntraced(function* (name: string) {
        const room = yield* adoptRoom(folder.runs, name)
        if (Option.isNone(room)) return undefined
        if (room.value === "unreadable") {
          yield* Effect.logError(`What ${name} holds cannot be read. It stays in the agent's folder.`)
          return undefined
        }
        return leftRoom(room.value)
      })

      const adopt = Effect.fnUntraced(function* (work: (handle: RunHandle) => Effect.Effect<void>) {
        for (const name of yield* Effect.orElseSucceed(folder.runNames, () => [])) {
          if ([...handles].some(({ room }) => name === `${room.claim.runId}-${room.claim.fence}`)) continue
          yield* add(openLeft(name), work).pipe(
            Effect.catchCause((cause) => Effect.logError(`The Run in ${name} cannot be taken over.`, cause))
          )
        }
      })

      const confirm = Effect.fnUntraced(function* (word: Word, sent: Moment) {
        const handle = of(word)
        if (handle === undefined) return
        if (handle.lease !== undefined && handle.isAccepted && word.leaseSeconds !== undefined) {
          handle.lease.extend(sent, word.leaseSeconds)
          yield* guard.move(handle.room.runFolder, handle.lease.killAtBoot())
        }
        if (word.acknowledged !== undefined) yield* handle.spool.acknowledged(word.acknowledged)
        if (word.cancel) yield* Deferred.succeed(handle.cancelled, undefined)
        yield* Deferred.succeed(handle.confirmed, undefined)
      })

      const end = Effect.fnUntraced(function* (order: HeldRunOrder) {
        const handle = of(order)
        if (handle === undefined || order.order === "continue") return
        yield* Deferred.succeed(handle.ended, order.order)
      })

      return AgentRuns.of({
        all: () => [...handles],
        working: () => [...handles].filter(({ stage }) => stage === "accepted" || stage === "started").length,
        adopt,
        add,
        holds: (claim) => of(claim) !== undefined,
        confirm,
        end,
        stopTools: Effect.suspend(() =>
          Effect.forEach([...handles], ({ cancelled }) => Deferred.succeed(cancelled, undefined), { discard: true })
        )
      })
    })
  )
}

/** Lists the Runs that this process holds, in the form that the first message of a session reports. */
export const heldRuns = (runs: AgentRuns["Service"]) => runs.all().map(heldRun)
