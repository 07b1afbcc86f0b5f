import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { readUnfinishedApply } from "../../../runner/document/Documents.ts"
import type { UnfinishedApply } from "../../../runner/execution/RunOutcome.ts"
import type { RunClaim } from "../../../schema/agent/AgentJob.ts"
import { type AgentRefusal, Rejected } from "../../../schema/agent/AgentRefusal.ts"
import type { OrphanedStateReason } from "../../../schema/records/OrphanedState.ts"
import { EvidenceId, OrphanedStateId, StateVersionId } from "../../../schema/records/Ids.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { rowShape } from "../../base/database/Table.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { derivedId, now } from "../../base/Identity.ts"
import type { AgentSession } from "../agent-pool/AgentSessions.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"
import { OrphanedStates, type ReadOrphanedState } from "../../ledger/state/OrphanedStates.ts"
import { AgentBlobs } from "./AgentBlobs.ts"
import { AgentClaims, gone } from "./AgentClaims.ts"
import { refusalOf } from "./InlineBlobs.ts"
import { AgentEvidenceRow, type AgentRunRow, JournalJson } from "./AgentRunRow.ts"

/** Maximum number of different submissions for one Run. An agent normally sends one, and repeats it if the response was lost. */
export const mostHandIns = 8

const Worked = rowShape({ worked: Schema.Int })

/**
 * Returns true if the tool is known to have started because the agent sent a state or reported the start. A later report
 * that nothing happened is then rejected.
 */
const isKnownToHaveWorked = (sql: SqlClient.SqlClient, claim: Pick<AgentRunRow, "checkpoint_serial" | "run_id">) =>
  claim.checkpoint_serial !== null
    ? Effect.succeed(true)
    : Worked.rows(sql)`SELECT 1 AS worked FROM run_events WHERE run_id = ${claim.run_id} AND kind = 'run.phase'
        AND json_extract(data, '$.phase') = 'apply' AND seq > COALESCE((SELECT MAX(seq) FROM run_events
          WHERE run_id = ${claim.run_id} AND kind = 'run.started'), 0) LIMIT 1`.pipe(
        Effect.orDie,
        Effect.map(({ length }) => length > 0)
      )

const saysNothing = ({ completed, possiblyCreated, rejectedState, started, state }: UnfinishedApply): boolean =>
  [started, completed, possiblyCreated].every(({ length }) => length === 0) &&
  state === undefined &&
  rejectedState === undefined

/** The Capsule's state after the Run was settled. */
const Settled = rowShape({ state_version_id: Schema.NullOr(StateVersionId), generation: Schema.Int })

/**
 * Accepts the evidence that an agent kept about an apply that was settled without it. The state becomes a left-over state that a
 * person can adopt; the journal shows which changes the apply had started.
 */
export class AgentEvidence extends Context.Service<
  AgentEvidence,
  {
    readonly handIn: (
      session: AgentSession,
      evidence: typeof RunClaim.Type & { readonly leftOver: string }
    ) => Effect.Effect<{ readonly evidenceId: EvidenceId }, AgentRefusal>
  }
>()("svc/actors/running/agent/AgentEvidence") {
  static readonly layer = Layer.effect(
    AgentEvidence,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const claims = yield* AgentClaims
      const blobs = yield* AgentBlobs
      const ledger = yield* RunLedger
      const leftOvers = yield* OrphanedStates
      const audit = yield* Audit

      const keepState = Effect.fnUntraced(function* (
        run: RunRow,
        part: string,
        left: ReadOrphanedState | undefined,
        reason: OrphanedStateReason
      ) {
        if (left === undefined || run.capsule_id === null) return null
        const [settled] = yield* Effect.orDie(Settled.rows(
          sql
        )`SELECT COALESCE(r.state_version_id, r.base_state_version_id)
            AS state_version_id, COALESCE(v.generation, r.base_state_generation, 0) AS generation
          FROM runs r LEFT JOIN state_versions v ON v.id = r.state_version_id WHERE r.id = ${run.id}`)
        yield* leftOvers.keep({
          capsule: {
            id: run.capsule_id,
            workspace_id: run.workspace_id,
            current_state_version_id: settled?.state_version_id ?? null,
            current_state_generation: settled?.generation ?? 0,
            execution_authority_epoch: run.execution_authority_epoch ?? 0
          },
          runId: run.id,
          reason,
          left,
          settled: undefined,
          secrets: undefined,
          build: undefined,
          part
        })
        return derivedId(OrphanedStateId, "lo", run.id, part)
      })

      const store = Effect.fnUntraced(function* (
        { agent }: AgentSession,
        run: RunRow,
        { fence, leftOver }: typeof RunClaim.Type & { readonly leftOver: string },
        left: UnfinishedApply,
        states: { readonly state: ReadOrphanedState | undefined; readonly rejected: ReadOrphanedState | undefined }
      ) {
        const id = derivedId(EvidenceId, "evd", run.id, leftOver)
        const [known] = yield* Effect.orDie(
          AgentEvidenceRow.some(sql, "id")`SELECT id FROM agent_evidence WHERE id = ${id}`
        )
        if (known !== undefined) return id
        const earlier = yield* Effect.orDie(
          AgentEvidenceRow.some(sql, "id")`SELECT id FROM agent_evidence WHERE run_id = ${run.id}`
        )
        if (earlier.length >= mostHandIns) {
          return yield* new Rejected({
            message: `${mostHandIns} different left-overs of this Run were handed in already.`
          })
        }
        const part = `evidence ${leftOver}`
        const problem = left.stateProblem ?? "handed_in"
        const rejectedId = yield* keepState(run, `${part} rejected`, states.rejected, problem)
        const stateId = yield* keepState(
          run,
          part,
          states.state,
          left.rejectedState === undefined ? problem : "handed_in"
        )
        const leftOverId = stateId ?? rejectedId
        const { completed, possiblyCreated, started } = left
        yield* Effect.orDie(
          sql`INSERT INTO agent_evidence ${AgentEvidenceRow.values(sql, {
            id,
            run_id: run.id,
            fence,
            agent_id: agent.id,
            digest: leftOver,
            journal: JournalJson.write({ started, completed, possiblyCreated }),
            left_over_state_id: leftOverId,
            received_at: yield* now
          })}`
        )
        yield* audit.append({
          workspaceId: run.workspace_id,
          actor: serviceContext.actor,
          action: left.neverStarted === true ? "agent.never_started" : "agent.hand_in",
          target: { kind: "run", id: run.id },
          ...(run.capsule_id === null ? {} : { capsuleId: run.capsule_id }),
          runId: run.id,
          data: { agent: agent.id, digest: leftOver, hasState: leftOverId !== null }
        })
        return id
      }, transaction(sql))

      const handIn = Effect.fn("AgentEvidence.handIn")(function* (
        session: AgentSession,
        evidence: typeof RunClaim.Type & { readonly leftOver: string }
      ): Effect.fn.Return<{ readonly evidenceId: EvidenceId }, AgentRefusal> {
        const claim = { runId: evidence.runId, fence: evidence.fence }
        const row = yield* claims.find(session, claim)
        const run = yield* ledger.find(claim.runId)
        if (Option.isNone(row) || run === undefined) return yield* gone
        if (row.value.kind !== "apply") return yield* new Rejected({ message: "Only an apply leaves a state." })
        if (yield* ledger.held({ ...claim, owner: session.agent.id })) {
          return yield* new Rejected({ message: "The Run is still this agent's: report its result." })
        }
        const id = derivedId(EvidenceId, "evd", run.id, evidence.leftOver)
        const [known] = yield* Effect.orDie(
          AgentEvidenceRow.some(sql, "id")`SELECT id FROM agent_evidence WHERE id = ${id}`
        )
        if (known !== undefined) return { evidenceId: id }
        const bytes = yield* Effect.mapError(
          blobs.open(session.agent.id, claim, "left_over", evidence.leftOver),
          refusalOf
        )
        const left = yield* Effect.mapError(
          readUnfinishedApply(Redacted.value(bytes)),
          () => new Rejected({ message: "What was handed in does not have the form of a left-over." })
        )
        if (left.neverStarted === true && (!saysNothing(left) || (yield* isKnownToHaveWorked(sql, row.value)))) {
          return yield* new Rejected({ message: "The tool of this apply was started: what it left is still missing." })
        }
        const readIfAny = (state: UnfinishedApply["state"]) =>
          state === undefined ? Effect.undefined : leftOvers.read(state)
        const states = { state: yield* readIfAny(left.state), rejected: yield* readIfAny(left.rejectedState) }
        const evidenceId = yield* store(session, run, evidence, left, states)
        yield* blobs.remove(claim, "left_over", evidence.leftOver)
        return { evidenceId }
      })

      return AgentEvidence.of({ handIn })
    })
  )
}
