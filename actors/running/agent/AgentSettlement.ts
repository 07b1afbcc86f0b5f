import { Cause, Context, Effect, Fiber, FiberMap, Layer, Option, Redacted, Result, Schedule, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import type { JobResult } from "../../../runner/agent/JobResult.ts"
import { BuildStore } from "../../../runner/execution/BuildStore.ts"
import type { ApplyOutcome, UnfinishedApply } from "../../../runner/execution/RunOutcome.ts"
import { type RunnerFailure, runnerFailure } from "../../../runner/execution/RunnerFailure.ts"
import type { RunClaim } from "../../../schema/agent/AgentJob.ts"
import { hasDatabaseLost } from "../../base/database/DatabaseLost.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { hasStorageFull } from "../../../schema/errors/StorageFull.ts"
import { ApplyRecovery } from "../execution/ApplyRecovery.ts"
import { ModuleSteps } from "../execution/ModuleSteps.ts"
import type { RunControl } from "../execution/RunExecution.ts"
import { makeRunStop } from "../execution/RunStop.ts"
import { now } from "../../base/Identity.ts"
import { Nodes } from "../../base/node/Nodes.ts"
import { ProvidedMarks } from "../agent-pool/ProvidedMarks.ts"
import { RunQueue } from "../queue/RunQueue.ts"
import { isApply } from "../../ledger/run/RunLifecycle.ts"
import type { HoldLost, RunHold, StopRequested } from "../../ledger/run/RunHold.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"
import { identifyReceivedState, type ReceivedState } from "../../ledger/state/ReceivedState.ts"
import { StateVersions } from "../../ledger/state/StateVersions.ts"
import { AgentBlobs, type BlobRefused } from "./AgentBlobs.ts"
import { AgentClaims } from "./AgentClaims.ts"
import { AgentControls } from "./AgentControls.ts"
import { resultOf } from "./AgentReports.ts"
import { InlineBlobs } from "./InlineBlobs.ts"
import { AgentRunRow, ResultJson, type StoredResult } from "./AgentRunRow.ts"
import { digestOf } from "./JobSecrets.ts"
import type { Rejected } from "../../../schema/agent/AgentRefusal.ts"
import type { FoundUnfinishedApply } from "../../../runner/execution/RunFolders.ts"

/** Converts the outcome of an apply to left-overs. Used if the settlement of the apply failed. */
const unfinishedFromResult = (
  result: JobResult,
  state: Redacted.Redacted<Uint8Array> | undefined
): FoundUnfinishedApply => {
  if (result.kind !== "apply" || result.status === "failed") return { kind: "nothing" }
  if (result.status === "left") return result.left === null ? { kind: "nothing" } : { kind: "left", left: result.left }
  const { changedAnything, lineage, possiblyCreated, resourceCount, serial } = result.outcome
  const left: UnfinishedApply = {
    started: [],
    completed: [],
    possiblyCreated,
    changedAnything,
    ...(state === undefined ? {} : { state }),
    ...(lineage === undefined ? {} : { lineage }),
    ...(serial === undefined ? {} : { serial }),
    ...(resourceCount === undefined ? {} : { resourceCount })
  }
  return { kind: "left", left }
}

/**
 * Left-overs of an apply whose outcome is lost, for example because a restore does not recover files. The state shows which
 * objects exist, but there may be more.
 */
const unfinishedFromStateOnly = (state: Option.Option<Redacted.Redacted<Uint8Array>>): FoundUnfinishedApply =>
  Option.match(state, {
    onNone: () => ({ kind: "unreadable" }),
    onSome: (found) => ({
      kind: "left",
      left: { started: [], completed: [], possiblyCreated: [], changedAnything: true, state: found }
    })
  })

/** Describes the left-overs by reading the state itself instead of trusting the agent's description. */
const checkedUnfinishedApply = Effect.fnUntraced(function* (
  found: FoundUnfinishedApply,
  base: Parameters<typeof identifyReceivedState>[1]
): Effect.fn.Return<FoundUnfinishedApply> {
  if (found.kind !== "left") return found
  const { lineage: _lineage, resourceCount: _count, serial: _serial, state, ...said } = found.left
  return { kind: "left", left: { ...said, ...(yield* identifyReceivedState(state, base)) } }
})

type Claim = typeof RunClaim.Type
type Opened = Redacted.Redacted<Uint8Array>

const settleAgain = Schedule.spaced("5 seconds")

/**
 * Maximum number of times that a result is settled if the server loses the database every time. Limited, because one of the
 * settlement's own statements may be terminating the database session.
 */
const mostLosses = 20

/** Maximum delay of the response to a result, while the Run is being settled. */
const longestWait = "100 millis"

const ended = {
  code: "apply_interrupted",
  message:
    "The agent ended while this apply was running. What it had written of the state was imported; check what may have been created, then plan again."
}

const unread = {
  code: "apply_interrupted",
  message:
    "Of what the agent reported about the end of this apply something is lost, as after a restore from a backup. The newest state that the server has is the Capsule's; check what may have been created, then plan again."
}

const untouched = {
  code: "apply_interrupted",
  message: "The agent ended before the tool was started; nothing was changed. Plan again."
}

/**
 * The error of a plan or drift check if its tool was killed in the second attempt, too, because the agent stopped or its
 * lease expired.
 */
const unfinished = (agentId: string) => ({
  code: "agent_lost",
  message: `The agent ${agentId} could not keep its lease, and ended its tool; nothing was changed. Start it again.`
})

/** Returns true if the agent stopped a Run that nobody cancelled: its lease was expiring, or it received a signal. */
const isUnasked = (run: RunRow, result: JobResult) =>
  result.status === "failed" && result.failure.reason === "cancelled" && run.cancel_requested_at === null

const notStarted = runnerFailure(
  "prepare_failed",
  "prepare",
  "The agent lost its lease, or was asked to stop, before it started the tool; nothing was changed. Plan again."
)

const defect = {
  code: "internal_error",
  message: "The service failed while it settled this Run. The operator's log has the details."
}

/** Error if the agent's report about a plan does not match the plan file that the agent sent. */
const notThePlan = runnerFailure(
  "output_unreadable",
  "plan",
  "The plan file that the agent sent does not match its description."
)

/**
 * Checks an apply's outcome against the state that the agent sent. As on the control plane, an apply succeeds only with a state
 * that continues the base state.
 */
const checkedOutcome = (said: ApplyOutcome, sent: ReceivedState): ApplyOutcome => {
  const { lineage: _lineage, resourceCount: _count, serial: _serial, state: _state, ...rest } = said
  const outcome = { ...rest, ...sent }
  const isWhole = outcome.state !== undefined && outcome.stateProblem === undefined
  return outcome.exit !== "succeeded" || isWhole
    ? outcome
    : { ...outcome, exit: "failed", stateProblem: outcome.stateProblem ?? "unreadable" }
}

/** Returns true if retrying cannot help. Only an unreadable disk may become readable again. */
const isFinal = (error: BlobRefused | Rejected) => error._tag === "Rejected" || error.reason !== "storage"

/** Settles Runs from the results that agents sent. Uses only rows and files, so a restarted server can continue. */
export class AgentSettlement extends Context.Service<
  AgentSettlement,
  {
    /**
     * Starts settling a stored result in the background. Returns when the Run is settled or after `longestWait`, whichever
     * comes first, so that the agent gets its response quickly.
     */
    readonly begin: (claim: Claim) => Effect.Effect<void>
    /** Settles results that were stored but not settled, either by an earlier process or by a server that is gone. */
    readonly resume: Effect.Effect<void>
    /** Waits until no settlement is in progress. */
    readonly idle: Effect.Effect<void>
  }
>()("svc/actors/running/agent/AgentSettlement") {
  static readonly layer = Layer.effect(
    AgentSettlement,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* RunLedger
      const claims = yield* AgentClaims
      const blobs = yield* AgentBlobs
      const inline = yield* InlineBlobs
      const controls = yield* AgentControls
      const stop = yield* makeRunStop
      const steps = yield* ModuleSteps
      const applies = yield* ApplyRecovery
      const builds = yield* BuildStore
      const queue = yield* RunQueue
      const states = yield* StateVersions
      const marks = yield* ProvidedMarks
      const nodes = yield* Nodes
      const settling = yield* FiberMap.make<string, void, never>()

      const read = Effect.fnUntraced(function* (row: AgentRunRow, stored: StoredResult) {
        const claim = { runId: row.run_id, fence: row.fence }
        const open = (kind: "outcome" | "plan_file" | "state", digest: string | undefined) =>
          digest === undefined ? Effect.undefined : inline.open(row.agent_id, claim, kind, digest)
        const outcome = yield* inline.open(row.agent_id, claim, "outcome", stored.outcome)
        return {
          result: yield* resultOf(outcome),
          planFile: yield* open("plan_file", stored.planFile),
          state: yield* open("state", stored.state)
        }
      })

      type Read = Effect.Success<ReturnType<typeof read>>

      /** Reads the outcome and the state of an incomplete result separately, because either may be missing. */
      const readAlone = Effect.fnUntraced(function* ({ agent_id: agentId, fence, result, run_id: runId }: AgentRunRow) {
        const stored: Partial<StoredResult> = result === null ? {} : ResultJson.read(result)
        const found = <A>(kind: "outcome" | "state", use: (file: Opened) => Effect.Effect<A, Rejected>) => {
          const digest = stored[kind]
          if (digest === undefined) return Effect.succeedNone
          return inline.open(agentId, { runId, fence }, kind, digest).pipe(
            Effect.flatMap(use),
            Effect.asSome,
            Effect.catchTag("Rejected", () => Effect.succeedNone),
            Effect.catchIf(isFinal, () => Effect.succeedNone)
          )
        }
        return { result: yield* found("outcome", resultOf), state: yield* found("state", Effect.succeed) }
      })

      /** Moves the archive of a source build to the stored builds, under the digest in its plan. */
      const keepBuild = Effect.fnUntraced(function* (row: AgentRunRow, stored: StoredResult, digest: string) {
        if (stored.build === undefined) return false
        const claim = { runId: row.run_id, fence: row.fence }
        const archive = yield* blobs.openInto(row.agent_id, claim, "build", stored.build)
        if (archive.digest !== digest) return false
        yield* builds.adopt(archive)
        return true
      })

      const settlePlan = Effect.fnUntraced(function* (
        hold: RunHold,
        row: AgentRunRow,
        stored: StoredResult,
        { planFile, result }: Read,
        control: RunControl
      ): Effect.fn.Return<void, HoldLost | StopRequested | BlobRefused> {
        if (result.kind !== "plan" || result.status === "left") return
        if (result.status === "failed") return yield* steps.plan.settle(hold, Result.fail(result.failure), control)
        const { outcome } = result
        yield* marks.used(row.agent_id, row.accepted_at ?? row.offered_at, outcome.secrets.provided ?? [])
        const isWhole =
          planFile !== undefined &&
          digestOf(Redacted.value(planFile)) === outcome.planDigest &&
          (outcome.build === undefined || (yield* keepBuild(row, stored, outcome.build.digest)))
        const settled: Result.Result<typeof outcome, RunnerFailure> = isWhole
          ? Result.succeed({ ...outcome, planFile })
          : Result.fail(notThePlan)
        yield* steps.plan.settle(hold, settled, control)
      })

      const settleApply = Effect.fnUntraced(function* (
        hold: RunHold,
        run: RunRow,
        { result, state }: Read,
        control: RunControl
      ): Effect.fn.Return<void, HoldLost | StopRequested> {
        if (result.kind !== "apply") return
        // An earlier process committed the apply's state, but its checks did not finish.
        if (result.status === "left" || run.provider_apply_succeeded === 1) {
          const left = yield* checkedUnfinishedApply(
            unfinishedFromResult(result, state),
            yield* states.find(run.base_state_version_id)
          )
          return yield* applies.settle(run, left, { untouched, interrupted: ended })
        }
        if (result.status === "failed") {
          const failure = isUnasked(run, result) ? notStarted : result.failure
          return yield* steps.apply.settle(hold, Result.fail(failure), control)
        }
        const base = yield* states.find(run.base_state_version_id)
        const sent = yield* identifyReceivedState(state, base)
        yield* steps.apply.settle(hold, Result.succeed(checkedOutcome(result.outcome, sent)), control)
      })

      const settleDrift = Effect.fnUntraced(function* (hold: RunHold, { result }: Read, control: RunControl) {
        if (result.kind !== "drift_check" || result.status === "left") return
        yield* steps.drift.settle(
          hold,
          result.status === "failed" ? Result.fail(result.failure) : Result.succeed(result.outcome),
          control
        )
      })

      const byRead = Effect.fnUntraced(function* (
        hold: RunHold,
        run: RunRow,
        row: AgentRunRow,
        stored: StoredResult,
        found: Read
      ): Effect.fn.Return<void, HoldLost | StopRequested | BlobRefused, Scope.Scope> {
        const { result } = found
        if (result.kind !== "apply" && (result.status === "left" || isUnasked(run, result))) {
          const reason = `The agent ${hold.owner} ended its tool before it was done.`
          return yield* controls.again(run, reason, unfinished(hold.owner))
        }
        const control = yield* controls.settling(run)
        switch (row.kind) {
          case "plan":
            return yield* settlePlan(hold, row, stored, found, control)
          case "apply":
            return yield* settleApply(hold, run, found, control)
          case "drift_check":
            return yield* settleDrift(hold, found, control)
        }
      }, Effect.scoped)

      /**
       * Ends a Run whose result cannot be settled. Otherwise the Run would remain without an owner, and an apply would lose its
       * state.
       */
      const byForce = Effect.fnUntraced(function* (run: RunRow, row: AgentRunRow, found: Read | undefined) {
        if (!isApply(run.type)) return yield* controls.failed(run, defect)
        const base = yield* states.find(run.base_state_version_id)
        if (found !== undefined) {
          const left = yield* checkedUnfinishedApply(unfinishedFromResult(found.result, found.state), base)
          return yield* applies.settle(run, left, { untouched: defect, interrupted: defect })
        }
        const { result, state } = yield* readAlone(row)
        const said = Option.map(result, (whole) => unfinishedFromResult(whole, Option.getOrUndefined(state)))
        const left = yield* checkedUnfinishedApply(
          Option.getOrElse(said, () => unfinishedFromStateOnly(state)),
          base
        )
        yield* applies.settle(run, left, { untouched: unread, interrupted: unread })
      })

      /**
       * Settles a stored result. `isPatient` returns true if the settlement may be repeated after the server has lost the
       * database.
       */
      const settle = Effect.fn("AgentSettlement.settle")(function* (claim: Claim, isPatient: () => boolean) {
        const [row] = yield* Effect.orDie(AgentRunRow.rows(sql)`SELECT * FROM agent_runs
          WHERE run_id = ${claim.runId} AND fence = ${claim.fence} AND ended_at IS NULL`)
        if (row?.result == null) return
        const hold = { ...claim, owner: row.agent_id }
        const run = yield* ledger.held(hold)
        let isRead = false
        if (run !== undefined) {
          const stored = ResultJson.read(row.result)
          const found = yield* read(row, stored).pipe(
            Effect.asSome,
            Effect.catchIf(isFinal, (error) =>
              Effect.as(Effect.logError("The result of an agent cannot be read", error), Option.none<Read>())
            )
          )
          isRead = Option.isSome(found)
          const attempt: Effect.Effect<void, HoldLost | StopRequested | BlobRefused> = Option.isNone(found)
            ? byForce(run, row, undefined)
            : byRead(hold, run, row, stored, found.value)
          yield* attempt.pipe(
            Effect.catchTag("StopRequested", stop.stopped),
            Effect.catchIf(
              (error) => error._tag === "BlobRefused" && isFinal(error),
              () => byForce(run, row, undefined)
            ),
            Effect.catchCauseIf(
              (cause) =>
                Cause.hasDies(cause) &&
                !Cause.hasInterruptsOnly(cause) &&
                !hasStorageFull(cause) &&
                !(nodes.isShared && hasDatabaseLost(cause) && isPatient()),
              (cause) =>
                Effect.andThen(
                  Effect.logError("The result of an agent could not be settled", cause),
                  byForce(run, row, Option.getOrUndefined(found))
                )
            ),
            Effect.catchTag("HoldLost", (error) => Effect.logWarning("A Run was settled already", error))
          )
        }
        yield* controls.endLog(hold)
        const isSpent = row.kind !== "apply" || isRead
        if (isSpent) yield* blobs.removeAll(claim)
        yield* Effect.andThen(
          isSpent ? inline.remove(claim) : Effect.void,
          claims.change(claim, { ended_at: yield* now })
        ).pipe(transaction(sql))
        yield* queue.wake
      })

      const settled = (claim: Claim) => {
        let losses = 0
        const isPatient = () => ++losses < mostLosses
        return FiberMap.run(
          settling,
          `${claim.runId} ${claim.fence}`,
          settle(claim, isPatient).pipe(
            Effect.tapCause((cause) =>
              Cause.hasInterruptsOnly(cause)
                ? Effect.void
                : Effect.logError("The end of an agent's Run could not be recorded. It is tried again.", cause)
            ),
            Effect.sandbox,
            Effect.retry({ schedule: settleAgain, while: (cause) => !Cause.hasInterruptsOnly(cause) }),
            Effect.ignore,
            Effect.annotateLogs({ runId: claim.runId })
          ),
          { onlyIfMissing: true }
        )
      }

      const begin = (claim: Claim) =>
        Effect.flatMap(settled(claim), (fiber) =>
          Fiber.await(fiber).pipe(Effect.timeoutOption(longestWait), Effect.asVoid)
        )

      const resume = Effect.gen(function* () {
        const waiting = yield* Effect.orDie(
          AgentRunRow.some(sql, "run_id", "fence", "node_id")`SELECT run_id, fence, node_id FROM agent_runs
            WHERE result IS NOT NULL AND ended_at IS NULL`
        )
        for (const { fence, node_id, run_id } of waiting) {
          const claim = { runId: run_id, fence }
          if (node_id !== nodes.name && nodes.isShared) {
            // The server that received the result settles it, unless that server is gone.
            if (node_id !== null && !(yield* nodes.isGone(node_id))) continue
            yield* claims.change(claim, { node_id: nodes.name })
          }
          yield* settled(claim)
        }
      })

      return AgentSettlement.of({ begin, resume, idle: FiberMap.awaitEmpty(settling) })
    })
  )
}
