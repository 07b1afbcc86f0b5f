import { join } from "node:path"
import { describe, expect } from "bun:test"
import { Deferred, Effect, Fiber } from "effect"
import { acceptOffer, type OfferAcceptance } from "../../../runner/agent/OfferAcceptance.ts"
import { Guard } from "../../../runner/agent/guard/Guard.ts"
import { machineClocks, makeLease } from "../../../runner/agent/LeaseClock.ts"
import { makeHandle } from "../../../runner/agent/RunHandle.ts"
import { makeRoom } from "../../../runner/agent/AgentRunFolder.ts"
import { ServerConnection } from "../../../runner/agent/ServerConnection.ts"
import { openSpool } from "../../../runner/agent/Spool.ts"
import { Gone } from "../../../schema/agent/AgentRefusal.ts"
import { acceptWithinSeconds, type JobKind } from "../../../schema/agent/AgentJob.ts"
import { RunId } from "../../../schema/records/Ids.ts"
import { it } from "../../support/Effect.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"

const unused = Effect.die(new Error("not a part of the acceptance"))

/**
 * Creates an offer that the agent requested a few seconds ago. `told` collects the messages to the guard; `answer` is the
 * server's response to the acceptance.
 */
const offered = Effect.fnUntraced(function* (secondsAgo: number, kind: typeof JobKind.Type = "plan") {
  const folder = yield* temporaryFolder
  const claim = { runId: RunId.make("run_01000000000000000000000001"), fence: 1 }
  const room = yield* makeRoom(folder, claim, kind)
  if (room === undefined) return yield* Effect.die(new Error("no room"))
  const spool = yield* openSpool(join(folder, "spool"))
  const boot = machineClocks.bootSeconds()
  const sent = { boot: boot - secondsAgo, monotonic: machineClocks.monotonicSeconds() - secondsAgo }
  const lease = makeLease(machineClocks, sent, acceptWithinSeconds)
  const handle = yield* makeHandle({ room, spool, lease, stage: "accepted" })
  const told: Array<{ readonly say: "hold" | "move" | "release"; readonly left?: number }> = []
  const tell = (say: "hold" | "move") => (_: string, killAtBoot: number) =>
    Effect.sync(() => void told.push({ say, left: Math.round(killAtBoot - boot) }))
  const answer = yield* Deferred.make<void, Gone>()
  const guard = Guard.of({
    hold: tell("hold"),
    move: tell("move"),
    release: () => Effect.sync(() => void told.push({ say: "release" }))
  })
  const line = ServerConnection.of({
    accept: () => Deferred.await(answer),
    start: () => unused,
    report: () => unused,
    checkpoint: () => unused,
    result: () => unused,
    handIn: () => unused,
    fetch: () => unused
  })
  const begin = acceptOffer(handle, lease, 60).pipe(
    Effect.provideService(Guard, guard),
    Effect.provideService(ServerConnection, line)
  )
  return { answer, begin, handle, told }
})

/** Returns true if the effect completes without waiting for another event. */
const isComplete = (moment: OfferAcceptance["mayStart"]) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(moment, { startImmediately: true })
    for (let turn = 0; turn < 50; turn += 1)
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
    return fiber.pollUnsafe() !== undefined
  })

describe("Offer acceptance", () => {
  it.live(
    "an agent starts processes before it accepts a fresh offer, and they exit before another agent can get the offer",
    () =>
      Effect.gen(function* () {
        const { answer, begin, handle, told } = yield* offered(1)
        const { accepted, begun, mayStart } = yield* begin
        yield* mayStart
        expect(told).toEqual([{ say: "hold", left: 23 }])
        expect(yield* isComplete(accepted)).toBe(false)
        expect(handle.isAccepted).toBe(false)
        yield* Deferred.succeed(answer, undefined)
        yield* begun
        yield* accepted
        expect(handle.isAccepted).toBe(true)
        expect(told.slice(1)).toEqual([{ say: "move", left: 48 }])
      })
  )

  it.live("an agent starts no process under an old offer before the server has recorded which agent has the Run", () =>
    Effect.gen(function* () {
      const { answer, begin, handle, told } = yield* offered(25)
      const { begun, mayStart } = yield* begin
      expect(yield* isComplete(mayStart)).toBe(false)
      expect(told).toEqual([])
      yield* Deferred.succeed(answer, undefined)
      yield* begun
      yield* mayStart
      expect(told).toEqual([{ say: "hold", left: 48 }])
      // The offer's deadline no longer applies, so later failures are not blamed on the age of the offer.
      expect(handle.lease?.wasOver()).toBe(false)
    })
  )

  it.live(
    "an agent starts no process of an apply before it accepts the offer, so a slow acceptance cannot abort the apply",
    () =>
      Effect.gen(function* () {
        const { answer, begin, told } = yield* offered(1, "apply")
        const { begun, mayStart } = yield* begin
        expect(yield* isComplete(mayStart)).toBe(false)
        yield* Deferred.succeed(answer, undefined)
        yield* begun
        yield* mayStart
        expect(told).toEqual([{ say: "hold", left: 48 }])
      })
  )

  it.live("a rejected acceptance ends the Run, and the guard deletes the Run's folder", () =>
    Effect.gen(function* () {
      const { answer, begin, handle, told } = yield* offered(0)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { accepted, begun } = yield* begin
          const waiting = yield* Effect.forkChild(Effect.flip(begun))
          yield* Deferred.fail(answer, new Gone({ message: "gone" }))
          expect(yield* Fiber.join(waiting)).toMatchObject({ _tag: "Gone" })
          expect(yield* isComplete(accepted)).toBe(false)
          expect(handle.isAccepted).toBe(false)
        })
      )
      expect(told.at(-1)).toEqual({ say: "release" })
    })
  )
})
