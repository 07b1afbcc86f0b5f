import { Context, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { readJobResult } from "../../../runner/document/Documents.ts"
import { plainText } from "../../../runner/redaction/LogText.ts"
import type { StateProblem } from "../../../runner/execution/RunOutcome.ts"
import {
  type HeldRunOrder,
  longestReportedLine,
  type ReportBatch,
  type RunClaim
} from "../../../schema/agent/AgentJob.ts"
import type { InlineFile } from "../../../schema/agent/InlineFile.ts"
import { type AgentRefusal, Busy, Rejected } from "../../../schema/agent/AgentRefusal.ts"
import { hasStorageFull, storageFull } from "../../../schema/errors/StorageFull.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { withoutWriteLock } from "../../base/database/WriteLock.ts"
import { now } from "../../base/Identity.ts"
import { Nodes } from "../../base/node/Nodes.ts"
import type { AgentSession } from "../agent-pool/AgentSessions.ts"
import { receivedFact, type ReportedEvent, RunJournal } from "../../ledger/run/RunJournal.ts"
import { RunLogs } from "../../ledger/run/RunLogs.ts"
import type { RunLogEntry } from "../../../schema/events/RunEvent.ts"
import { RunCheckpoints } from "../../ledger/state/RunCheckpoints.ts"
import { identifyReceivedState } from "../../ledger/state/ReceivedState.ts"
import { StateVersions } from "../../ledger/state/StateVersions.ts"
import { AgentBlobs } from "./AgentBlobs.ts"
import { AgentClaims, orGone } from "./AgentClaims.ts"
import { InlineBlobs, refusalOf } from "./InlineBlobs.ts"
import { AgentLeases } from "./AgentLeases.ts"
import { LostAnswers } from "./LostAnswers.ts"
import { ResultJson, type StoredResult } from "./AgentRunRow.ts"

type Claim = typeof RunClaim.Type
type Line = Omit<RunLogEntry, "seq">
type Batch = typeof ReportBatch.Type

/** A Run in an agent's renewal request, with the newest state that the agent has for it. */
interface HeldClaim extends Claim {
  readonly newestSerial?: number
}

/** Decodes the decrypted result of a job. */
export const resultOf = (bytes: Redacted.Redacted<Uint8Array>) =>
  Effect.mapError(
    readJobResult(Redacted.value(bytes)),
    () => new Rejected({ message: "The outcome does not have the form of one." })
  )

/** Maps a full disk to `Busy`. Nothing has been stored, so the agent keeps its data and retries. */
const busyWhenFull = <A, R>(write: Effect.Effect<A, AgentRefusal, R>): Effect.Effect<A, AgentRefusal, R> =>
  Effect.catchCauseIf(write, hasStorageFull, () =>
    Effect.fail(new Busy({ message: storageFull.message, retryAfterSeconds: 10 }))
  )

/** Error messages for states that cannot be saved. */
const notSaved: Readonly<Record<StateProblem, string>> = {
  unreadable: "What was sent is not a complete state file. It was not saved.",
  lineage_changed: "The state's lineage differs from the Run's initial state. It was not saved.",
  serial_decreased: "The state is older than the Run's initial state. It was not saved."
}

interface SentResult extends Claim, StoredResult {
  readonly lastBatch: number
  readonly lastReport?: Batch
  readonly files?: ReadonlyArray<InlineFile>
}

interface SentCheckpoint extends Claim {
  readonly serial: number
  readonly resourceCount: number
  readonly blob: string
  readonly files?: ReadonlyArray<InlineFile>
}

/**
 * Stores agents' reports exactly once: events, log lines, states and results. A report is on disk before the response is sent.
 */
export class AgentReports extends Context.Service<
  AgentReports,
  {
    readonly report: (
      session: AgentSession,
      claim: Claim,
      batch: Batch
    ) => Effect.Effect<{ readonly acknowledged: number }, AgentRefusal>
    readonly renew: (
      session: AgentSession,
      held: ReadonlyArray<HeldClaim>,
      unansweredSeconds?: number
    ) => Effect.Effect<{
      readonly leases: ReadonlyArray<Claim & { readonly leaseSeconds: number; readonly cancel: boolean }>
      readonly gone: ReadonlyArray<typeof HeldRunOrder.Type>
    }>
    readonly checkpoint: (session: AgentSession, checkpoint: SentCheckpoint) => Effect.Effect<void, AgentRefusal>
    /** Stores the result and starts its settlement. Repeating the call changes nothing. */
    readonly result: (session: AgentSession, result: SentResult) => Effect.Effect<void, AgentRefusal>
  }
>()("svc/actors/running/agent/AgentReports") {
  static readonly layer = Layer.effect(
    AgentReports,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const claims = yield* AgentClaims
      const journal = yield* RunJournal
      const logs = yield* RunLogs
      const blobs = yield* AgentBlobs
      const inline = yield* InlineBlobs
      const checkpoints = yield* RunCheckpoints
      const states = yield* StateVersions
      const leases = yield* AgentLeases
      const node = yield* Nodes
      const lostAnswers = yield* LostAnswers

      const reading = new Set<string>()

      /**
       * A lock that prevents two requests from reading and storing the same file. An agent that times out repeats its request
       * while the server may still be reading a large file.
       */
      const onceAtATime = <A>(what: string, read: Effect.Effect<A, AgentRefusal>): Effect.Effect<A, AgentRefusal> =>
        Effect.suspend(() => {
          if (reading.has(what)) {
            return Effect.fail(new Busy({ message: "The server still reads what was sent.", retryAfterSeconds: 2 }))
          }
          reading.add(what)
          return Effect.ensuring(
            read,
            Effect.sync(() => reading.delete(what))
          )
        })

      const report = Effect.fn("AgentReports.report")(function* (
        session: AgentSession,
        claim: Claim,
        { entries, number }: Batch
      ): Effect.fn.Return<{ readonly acknowledged: number }, AgentRefusal> {
        const { hold, run } = yield* claims.held(session, claim)
        if (number <= run.last_event_batch) return { acknowledged: run.last_event_batch }
        // An earlier batch was lost in transit, so the response acknowledges the last stored batch, after which the agent
        // resumes.
        if (number > run.last_event_batch + 1) return { acknowledged: run.last_event_batch }
        const events: Array<ReportedEvent> = []
        const lines: Array<Line> = []
        for (const entry of entries) {
          switch (entry.kind) {
            case "event": {
              const fact = yield* Effect.mapError(
                receivedFact(entry.fact),
                () => new Rejected({ message: "An event does not have the form of its kind." })
              )
              events.push({ ...fact, at: entry.at })
              break
            }
            case "line":
              lines.push({
                at: entry.at,
                phase: entry.phase,
                stream: entry.stream,
                text: plainText(entry.text).slice(0, longestReportedLine)
              })
              break
            case "omitted":
              lines.push({
                at: entry.at,
                phase: entry.phase,
                stream: "system",
                text: `${entry.lines} lines were left out here: the agent could not send them in time.`
              })
          }
        }
        yield* Effect.andThen(journal.receive(hold, number, events), logs.receive(hold, number, lines)).pipe(
          transaction(sql),
          // Events and lines compare the hold and the batch's number in their statements.
          withoutWriteLock,
          orGone,
          busyWhenFull
        )
        return { acknowledged: number }
      })

      const renew = Effect.fn("AgentReports.renew")(function* (
        session: AgentSession,
        held: ReadonlyArray<HeldClaim>,
        unansweredSeconds?: number
      ) {
        const renewed: Array<Claim & { readonly leaseSeconds: number; readonly cancel: boolean }> = []
        const ended: Array<typeof HeldRunOrder.Type> = []
        for (const { newestSerial, ...claim } of held) {
          const order = yield* claims.orderOf(session, claim)
          if (order.order !== "continue") ended.push(order)
          else {
            if (newestSerial !== undefined) yield* leases.reached(claim, newestSerial)
            renewed.push({
              runId: order.runId,
              fence: order.fence,
              leaseSeconds: order.leaseSeconds ?? 0,
              cancel: order.cancel
            })
          }
        }
        const holds = renewed.map(({ fence, runId }) => ({ runId, fence, owner: session.agent.id }))
        yield* lostAnswers.renewed(session, holds, unansweredSeconds)
        return { leases: renewed, gone: ended }
      })

      const checkpoint = Effect.fn("AgentReports.checkpoint")(function* (
        session: AgentSession,
        { blob, fence, files = [], resourceCount, runId, serial }: SentCheckpoint
      ): Effect.fn.Return<void, AgentRefusal> {
        const claim = { runId, fence }
        const { claim: row, hold, run } = yield* claims.held(session, claim)
        if (row.kind !== "apply") return yield* new Rejected({ message: "Only an apply has states to save." })
        if (row.result !== null || serial <= (row.checkpoint_serial ?? -1)) {
          return yield* blobs.remove(claim, "state", blob)
        }
        const message = yield* inline.take(session.agent.id, claim, files, { state: blob })
        const opened = yield* Effect.mapError(message.open("state", blob), refusalOf)
        // Compares the state with its base now, because an acknowledged state may become the Capsule's state even if the
        // agent never sends another message.
        const base = yield* states.find(run.base_state_version_id)
        const sent = yield* identifyReceivedState(opened, base)
        const { state } = sent
        if (state === undefined) return yield* new Rejected({ message: notSaved[sent.stateProblem ?? "unreadable"] })
        if (sent.serial !== serial) {
          return yield* new Rejected({
            message: `The state has the serial ${sent.serial}, and not ${serial}. It was not saved.`
          })
        }
        yield* checkpoints.prepare(hold, run.workspace_id, state)
        yield* Effect.gen(function* () {
          yield* checkpoints.save(hold, run.workspace_id, state)
          yield* journal.report(hold, "state.saved", {
            serial,
            resourceCount: sent.resourceCount ?? resourceCount,
            final: false
          })
          yield* claims.change(claim, { checkpoint_serial: serial })
        }).pipe(transaction(sql), orGone, busyWhenFull)
        yield* blobs.remove(claim, "state", blob)
      })

      const same = (stored: StoredResult, given: StoredResult) => ResultJson.write(stored) === ResultJson.write(given)

      const result = Effect.fn("AgentReports.result")(function* (
        session: AgentSession,
        { build, fence, files = [], lastBatch, lastReport, outcome, planFile, runId, state }: SentResult
      ): Effect.fn.Return<void, AgentRefusal> {
        const claim = { runId, fence }
        const given: StoredResult = {
          outcome,
          ...(planFile === undefined ? {} : { planFile }),
          ...(state === undefined ? {} : { state }),
          ...(build === undefined ? {} : { build })
        }
        const known = yield* claims.find(session, claim)
        const earlier = known._tag === "Some" ? known.value.result : null
        if (earlier !== null) {
          if (same(ResultJson.read(earlier), given)) return
          return yield* new Rejected({ message: "Another result of this Run is stored already." })
        }
        const { claim: row } = yield* claims.held(session, claim)
        const message = yield* inline.take(session.agent.id, claim, files, { outcome, plan_file: planFile, state })
        if (build !== undefined && !(yield* blobs.isComplete(claim, "build", build))) {
          return yield* new Rejected({ message: "The build was not put." })
        }
        // Checks now that every file can be read: the agent deletes its copies once the result is acknowledged.
        for (const [kind, digest] of [
          ["plan_file", planFile],
          ["state", state]
        ] as const) {
          if (digest === undefined) continue
          yield* Effect.mapError(message.check(kind, digest), refusalOf)
        }
        const opened = yield* Effect.mapError(message.open("outcome", outcome), refusalOf)
        const { kind } = yield* resultOf(opened)
        if (kind !== row.kind)
          return yield* new Rejected({ message: `The Run is a ${row.kind}, and the outcome of a ${kind}.` })
        // Fails if the Run has been given up in the meantime. The agent then keeps its evidence and submits it later.
        yield* Effect.gen(function* () {
          if (lastReport !== undefined) yield* report(session, claim, lastReport)
          const { run } = yield* claims.held(session, claim)
          if (lastBatch > run.last_event_batch) {
            return yield* new Busy({ message: "Earlier reports of the Run are not stored yet.", retryAfterSeconds: 1 })
          }
          yield* message.store
          yield* claims.change(claim, { result: ResultJson.write(given), result_at: yield* now, node_id: node.name })
        }).pipe(transaction(sql), busyWhenFull, Effect.andThen(leases.end(claim)), leases.decided)
      })

      return AgentReports.of({
        report,
        renew,
        checkpoint: (session, sent) => onceAtATime(`checkpoint ${sent.runId} ${sent.fence}`, checkpoint(session, sent)),
        result: (session, sent) => onceAtATime(`result ${sent.runId} ${sent.fence}`, result(session, sent))
      })
    })
  )
}
