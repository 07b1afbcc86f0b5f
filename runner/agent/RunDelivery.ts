import { Deferred, Effect, Option, Redacted, Schema } from "effect"
import type { Gone } from "../../schema/agent/AgentRefusal.ts"
import { ModuleRunner } from "../execution/ModuleRunner.ts"
import { provesUnstarted } from "../execution/Recovery.ts"
import { LeftOver } from "../execution/RunOutcome.ts"
import type { StateCheckpoint } from "../execution/RunSink.ts"
import { AgentParty } from "./AgentParty.ts"
import { packContents } from "./BlobContents.ts"
import { untilDiskTakesIt } from "./JobExecution.ts"
import type { RunHandle } from "./RunHandle.ts"
import type { RunRoom, SealedResult } from "./RunRoom.ts"
import { sealedBytes } from "./SealedFile.ts"
import { ServerLine } from "./ServerLine.ts"

const encodeLeft = Schema.encodeEffect(Schema.fromJsonString(LeftOver))

/**
 * Entries that follow closely are sent together: each request is a commit on the server, and the tool may need the
 * processor.
 */
const gathering = "20 millis"

/** Sends the spool's entries as they arrive, until interrupted. */
export const sendReports = Effect.fnUntraced(function* ({
  room,
  spool
}: RunHandle): Effect.fn.Return<never, Gone, ServerLine> {
  const line = yield* ServerLine
  for (;;) {
    const batch = yield* spool.next
    if (Option.isNone(batch)) {
      yield* spool.waiting
      yield* Effect.sleep(gathering)
      continue
    }
    yield* spool.acknowledged(yield* line.report(room.claim, batch.value))
  }
})

/** Sends the rest of the spool, which is no longer appended to. Returns the number of the last batch. */
const sendRest = Effect.fnUntraced(function* ({ room, spool }: RunHandle) {
  const line = yield* ServerLine
  for (;;) {
    const last = yield* spool.last
    const batch = yield* spool.next
    if (Option.isNone(batch)) return last
    yield* spool.acknowledged(yield* line.report(room.claim, batch.value))
  }
})

/** Sends one state, sealed on the disk first. */
export const sendState = Effect.fnUntraced(function* (room: RunRoom, state: StateCheckpoint) {
  const line = yield* ServerLine
  const party = yield* AgentParty
  const packed = yield* packContents(Redacted.value(state.state))
  const file = yield* untilDiskTakesIt(
    sealedBytes(room.sealed("checkpoint"), party.serverKey, party.sent(room.claim, "state"), packed)
  )
  yield* line.put(room.claim, "state", file)
  const { resourceCount, serial } = state
  yield* line.checkpoint(room.claim, { serial, resourceCount, blob: file.digest })
})

/** Delivers the result of an ended Run. Nothing of it is removed before the server has it. */
export const deliver = Effect.fnUntraced(function* (handle: RunHandle, result: SealedResult) {
  const line = yield* ServerLine
  const { claim } = handle.room
  const { build, outcome, planFile, state } = result
  const files = [
    ["plan_file", planFile],
    ["state", state],
    ["build", build],
    ["outcome", outcome]
  ] as const
  const puts = files.map(([kind, file]) => (file === undefined ? Effect.void : line.put(claim, kind, file)))
  const [lastBatch] = yield* Effect.all([sendRest(handle), Effect.all(puts, { concurrency: "unbounded" })], {
    concurrency: "unbounded"
  })
  yield* line.result(claim, {
    lastBatch,
    outcome: outcome.digest,
    ...(planFile === undefined ? {} : { planFile: planFile.digest }),
    ...(state === undefined ? {} : { state: state.digest }),
    ...(build === undefined ? {} : { build: build.digest })
  })
})

const neverStarted: LeftOver = {
  neverStarted: true,
  started: [],
  completed: [],
  possiblyCreated: [],
  changedAnything: false
}

/**
 * Hands in what an apply left after it was settled without this agent. The server allowed the start, so it waits for
 * this even if the tool was never started: then the agent says so, provided that its disk proves it.
 */
export const handIn = Effect.fnUntraced(function* ({ room }: RunHandle) {
  const runner = yield* ModuleRunner
  const left = yield* untilDiskTakesIt(runner.recover(room.runFolder))
  if (Option.isSome(left)) return yield* sendLeft(room, left.value)
  if (!(yield* untilDiskTakesIt(provesUnstarted(room.runFolder)))) return
  // A restored server does not know the Run, and misses nothing.
  yield* Effect.catchTag(sendLeft(room, neverStarted), "Gone", () => Effect.void)
})

const sendLeft = Effect.fnUntraced(function* (room: RunRoom, left: LeftOver) {
  const line = yield* ServerLine
  const party = yield* AgentParty
  const text = yield* Effect.orDie(encodeLeft(left))
  const packed = yield* packContents(new TextEncoder().encode(text))
  const file = yield* untilDiskTakesIt(
    sealedBytes(room.sealed("left_over"), party.serverKey, party.sent(room.claim, "left_over"), packed)
  )
  yield* line.put(room.claim, "left_over", file)
  yield* line.handIn(room.claim, file.digest)
})

/** Completes with what to do when the server says that the Run is no longer this agent's. */
export const endedBy = ({ ended }: RunHandle) => Deferred.await(ended)
