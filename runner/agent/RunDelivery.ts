import { Deferred, Effect, Fiber, Option, Redacted, Schema, type Scope } from "effect"
import type { ReportBatch } from "../../schema/agent/AgentJob.ts"
import type { Gone } from "../../schema/agent/AgentRefusal.ts"
import { ModuleRunner } from "../execution/ModuleRunner.ts"
import { provesUnstarted } from "../execution/Recovery.ts"
import { UnfinishedApply } from "../execution/RunOutcome.ts"
import type { StateCheckpoint } from "../execution/RunSink.ts"
import { AgentParty } from "./AgentParty.ts"
import { packContents } from "./BlobContents.ts"
import { type ResultUpload, sealedContents } from "./ResultUpload.ts"
import { untilDiskTakesIt } from "./JobExecution.ts"
import type { RunHandle } from "./RunHandle.ts"
import type { AgentRunFolder } from "./AgentRunFolder.ts"
import { sealedBytes } from "./SealedFile.ts"
import { ServerConnection } from "./ServerConnection.ts"
import { spoolLimits } from "./Spool.ts"

const encodeLeft = Schema.encodeEffect(Schema.fromJsonString(UnfinishedApply))

/**
 * Time to wait for further entries before sending a batch that is not full. Each request causes a commit on the server, and
 * the tool may need the CPU.
 */
const gathering = "50 millis"

/**
 * Sends the spool's entries as they arrive, until interrupted. On interruption, a report in progress continues in `scope`,
 * because stopping it would close the connection, and the report would have to be sent again.
 */
export const sendReports = Effect.fnUntraced(function* (
  handle: RunHandle,
  scope: Scope.Scope
): Effect.fn.Return<never, Gone, ServerConnection> {
  const { room, spool } = handle
  const line = yield* ServerConnection
  const report = Effect.fnUntraced(function* (batch: ReportBatch) {
    // Send without waiting for the copy on disk, which is needed only if the connection is lost.
    const both = Effect.all([line.report(room.claim, batch), spool.flushed(batch.number)], { concurrency: "unbounded" })
    const [acknowledged] = yield* both
    yield* spool.acknowledged(acknowledged)
  })
  for (;;) {
    yield* spool.waiting
    if (spool.bytes() < spoolLimits.batchBytes) yield* Effect.sleep(gathering)
    const batch = yield* spool.next
    if (Option.isNone(batch)) continue
    const sent = yield* Effect.forkIn(report(batch.value), scope)
    handle.reported = Fiber.join(sent)
    yield* handle.reported
  }
})

/**
 * Sends the rest of the spool except the last batch, which is sent with the result. Call it only when nothing more will be
 * appended.
 */
const sendRest = Effect.fnUntraced(function* ({ reported, room, spool }: RunHandle) {
  const line = yield* ServerConnection
  yield* reported
  for (;;) {
    const lastBatch = yield* spool.last
    const batch = yield* spool.next
    if (Option.isNone(batch)) return { lastBatch }
    if (batch.value.number === lastBatch) return { lastBatch, lastReport: batch.value }
    yield* spool.acknowledged(yield* line.report(room.claim, batch.value))
  }
})

/**
 * Sends one state. The run folder keeps the state until the Run has ended. The state has its own sealed file, because the
 * result's file may be written at the same time.
 */
export const sendState = Effect.fnUntraced(function* (
  room: AgentRunFolder,
  { resourceCount, serial, state }: StateCheckpoint
) {
  const line = yield* ServerConnection
  const file = yield* untilDiskTakesIt(sealedContents(room, "state", Redacted.value(state), "checkpoint"))
  yield* line.checkpoint(room.claim, { serial, resourceCount, file })
})

/** Delivers the result of a finished Run. Removes nothing before the server has stored the result. */
export const deliver = Effect.fnUntraced(function* (handle: RunHandle, { files }: ResultUpload) {
  const line = yield* ServerConnection
  yield* line.result(handle.room.claim, { ...(yield* sendRest(handle)), files })
})

const neverStarted: UnfinishedApply = {
  neverStarted: true,
  started: [],
  completed: [],
  possiblyCreated: [],
  changedAnything: false
}

/**
 * Submits the evidence of an apply that was settled without this agent. The server permitted the start, so it waits for
 * evidence even if the tool never started. If the agent's disk proves that the tool never started, the agent reports that
 * fact.
 */
export const handIn = Effect.fnUntraced(function* ({ room }: RunHandle) {
  const runner = yield* ModuleRunner
  const left = yield* untilDiskTakesIt(runner.recover(room.runFolder))
  if (Option.isSome(left)) return yield* sendLeft(room, left.value)
  if (!(yield* untilDiskTakesIt(provesUnstarted(room.runFolder)))) return
  // Ignore a `Gone` error: a restored server may have no record of the Run, and then needs no evidence of it.
  yield* Effect.catchTag(sendLeft(room, neverStarted), "Gone", () => Effect.void)
})

const sendLeft = Effect.fnUntraced(function* (room: AgentRunFolder, left: UnfinishedApply) {
  const line = yield* ServerConnection
  const party = yield* AgentParty
  const text = yield* Effect.orDie(encodeLeft(left))
  const packed = yield* packContents(new TextEncoder().encode(text))
  const file = yield* untilDiskTakesIt(
    sealedBytes(room.sealed("left_over"), party.serverKey, party.sent(room.claim, "left_over"), packed)
  )
  yield* line.handIn(room.claim, { ...file, kind: "left_over" })
})

/** Completes with the server's instruction when the Run no longer belongs to this agent. */
export const endedBy = ({ ended }: RunHandle) => Deferred.await(ended)
