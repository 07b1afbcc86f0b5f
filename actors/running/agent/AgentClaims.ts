import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { HeldRunOrder, RunClaim } from "../../../schema/agent/AgentJob.ts"
import { Gone } from "../../../schema/agent/AgentRefusal.ts"
import { transaction } from "../../base/database/Transaction.ts"
import type { AgentSession } from "../agent-pool/AgentSessions.ts"
import { type HoldLost, isHeld, type RunHold } from "../../ledger/run/RunHold.ts"
import { RunJournal } from "../../ledger/run/RunJournal.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { RunRow } from "../../ledger/run/RunRow.ts"
import { AgentLeases } from "./AgentLeases.ts"
import { AgentRunRow } from "./AgentRunRow.ts"

type Claim = typeof RunClaim.Type
type ChangedColumn =
  | "accepted_at"
  | "checkpoint_serial"
  | "result"
  | "result_at"
  | "ended_at"
  | "unanswered_since"
  | "heard"
  | "newest_serial"
  | "closed_at"

/** A Run with the claim of the agent that holds it. */
export interface HeldClaim {
  readonly claim: AgentRunRow
  readonly run: RunRow
  readonly hold: RunHold
}

export const gone = new Gone({
  message: "The Run is not this agent's any more. Stop its tool, write nothing more, and hand in what it left."
})

/** Creates the error that an agent receives if it must not start the tool. Agents of every release understand this error. */
export const refusedStart = (reason: string) => new Gone({ message: `The tool must not be started. ${reason}` })

/** Maps a lost hold to `Gone`: the claim has ended, because its Run has ended or been claimed again. */
export const orGone = <A, R>(effect: Effect.Effect<A, HoldLost, R>): Effect.Effect<A, Gone, R> =>
  Effect.mapError(effect, () => gone)

/**
 * Checks each agent message against the claims in the database. A message matches no claim if it contains an old fence or
 * forged data, or comes from the wrong agent.
 */
export class AgentClaims extends Context.Service<
  AgentClaims,
  {
    /** Returns the claim, even if it has ended. */
    readonly find: (session: AgentSession, claim: Claim) => Effect.Effect<Option.Option<AgentRunRow>>
    /** Returns the Run that the agent accepted under this fence, and renews its lease. */
    readonly held: (session: AgentSession, claim: Claim) => Effect.Effect<HeldClaim, Gone>
    /** Returns the agent's claims that have not ended. */
    readonly open: (session: AgentSession) => Effect.Effect<ReadonlyArray<AgentRunRow>>
    /** Decides what the agent must do about a Run that it has reported. */
    readonly orderOf: (session: AgentSession, claim: Claim) => Effect.Effect<typeof HeldRunOrder.Type>
    readonly insert: (row: Omit<AgentRunRow, ChangedColumn>) => Effect.Effect<void>
    readonly change: (
      claim: Claim,
      columns: Partial<Pick<AgentRunRow, ChangedColumn | "node_id">>
    ) => Effect.Effect<void>
  }
>()("svc/actors/running/agent/AgentClaims") {
  static readonly layer = Layer.effect(
    AgentClaims,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* RunLedger
      const leases = yield* AgentLeases
      const journal = yield* RunJournal

      const find = Effect.fnUntraced(function* ({ agent }: AgentSession, { fence, runId }: Claim) {
        const [row] = yield* Effect.orDie(AgentRunRow.rows(sql)`SELECT * FROM agent_runs
          WHERE run_id = ${runId} AND fence = ${fence} AND agent_id = ${agent.id}`)
        return Option.fromUndefinedOr(row)
      })

      const runUnder = Effect.fnUntraced(function* (hold: RunHold) {
        const [run] = yield* Effect.orDie(RunRow.rows(sql)`SELECT * FROM runs WHERE ${isHeld(sql, hold)}`)
        return run
      })

      /** Clears the mark that the agent is unreachable, because the agent has reported again. */
      const renew = Effect.fnUntraced(function* (hold: RunHold, run: RunRow) {
        yield* leases.heard(hold)
        const since = run.agent_unreachable_since
        if (since === null) return
        yield* Effect.andThen(
          ledger.record(hold, { agent_unreachable_since: null }),
          journal.report(hold, "agent.returned", { agentId: hold.owner, since })
        ).pipe(
          transaction(sql),
          Effect.andThen(
            Effect.logInfo(`The agent ${hold.owner} is heard of again; it executes the Run ${hold.runId}`)
          ),
          Effect.ignore
        )
      })

      const held = Effect.fnUntraced(function* (session: AgentSession, claim: Claim) {
        const row = yield* find(session, claim)
        if (Option.isNone(row) || row.value.accepted_at === null || row.value.closed_at !== null) return yield* gone
        const hold = { ...claim, owner: session.agent.id }
        const run = yield* runUnder(hold)
        if (run === undefined) return yield* gone
        yield* renew(hold, run)
        return { claim: row.value, run, hold }
      })

      const open = ({ agent }: AgentSession) =>
        Effect.orDie(AgentRunRow.rows(sql)`SELECT * FROM agent_runs WHERE agent_id = ${agent.id} AND ended_at IS NULL`)

      const orderOf = Effect.fnUntraced(function* (session: AgentSession, claim: Claim) {
        const { fence, runId } = claim
        const row = Option.getOrUndefined(yield* find(session, claim))
        const none = { runId, fence, order: "discard" as const, acknowledged: 0, cancel: false }
        // The claim is missing after a restore from a backup. Only the agent has evidence of the changes that its apply
        // made, so it must submit that evidence.
        if (row === undefined) return { ...none, order: "hand_in" as const }
        const hold = { ...claim, owner: session.agent.id }
        const run = yield* runUnder(hold)
        if (run !== undefined && row.closed_at === null) {
          // A report does not renew the lease of an offer, because the agent's acceptance may still be in transit or may
          // have been lost.
          if (row.accepted_at !== null) yield* renew(hold, run)
          return {
            runId,
            fence,
            order: "continue" as const,
            leaseSeconds: row.lease_seconds,
            acknowledged: run.last_event_batch,
            cancel: run.cancel_requested_at !== null
          }
        }
        // Only an apply without a result can have changes that the agent has not reported. Only the agent can tell whether its
        // tool started.
        const owes = row.kind === "apply" && row.result === null
        return { ...none, order: owes ? ("hand_in" as const) : ("discard" as const) }
      })

      const change = ({ fence, runId }: Claim, columns: Parameters<typeof AgentRunRow.changes>[1]) =>
        Effect.asVoid(
          Effect.orDie(
            sql`UPDATE agent_runs SET ${AgentRunRow.changes(sql, columns)} WHERE run_id = ${runId} AND fence = ${fence}`
          )
        )

      return AgentClaims.of({
        find,
        held,
        open,
        orderOf,
        insert: (row) => Effect.asVoid(Effect.orDie(sql`INSERT INTO agent_runs ${AgentRunRow.values(sql, row)}`)),
        change
      })
    })
  )
}
