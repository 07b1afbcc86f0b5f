import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { ProvidedMark } from "../../../schema/agent/ProvidedMark.ts"
import { type AgentId, RunId } from "../../../schema/records/Ids.ts"
import { inParts } from "../../base/database/RowParts.ts"
import { rowShape } from "../../base/database/Table.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { pendingPlan, RunRow } from "../../ledger/run/RunRow.ts"
import { Vault } from "../../base/vault/Vault.ts"
import { AgentPresence } from "./AgentPresence.ts"
import { credentialsOf } from "./PlanHolders.ts"
import { AgentSessionRow, ProvidedMarkRow, ProvidedMarksJson } from "./PoolRows.ts"
import { type AgentCredentials, replacedOf } from "./ReplacedCredentials.ts"

const MarkedPlan = rowShape({ id: RunId, pool: RunRow.columns.pool, provided_marks: ProvidedMarksJson })

const isMark = Schema.is(ProvidedMark)

/**
 * Converts marks to their stored form: keyed digests, so that a stolen database does not help an attacker to guess the
 * values.
 */
export const keyedMarks = (
  vault: Vault["Service"],
  said: ReadonlyArray<{ readonly name: string; readonly mark?: string | undefined }>
): Effect.Effect<ReadonlyArray<ProvidedMark>> =>
  Effect.forEach(said.filter(isMark), ({ mark, name }) =>
    Effect.map(vault.mac("agent/provided-mark", mark), (keyed) => ({ name, mark: keyed }))
  )

const replacedReason = (pool: string, names: ReadonlyArray<string>): string =>
  `The agents of the pool ${pool} have new values for the credentials ${names.join(", ")} that this plan was made with. Plan again.`

/** Tracks the credentials of a pool's agents, and voids plans whose credentials have been replaced. */
export class ProvidedMarks extends Context.Service<
  ProvidedMarks,
  {
    readonly keyed: (said: ReadonlyArray<ProvidedMark>) => Effect.Effect<ReadonlyArray<ProvidedMark>>
    /** Replaces the agent's stored marks, in the caller's transaction. Returns true if anything changed. */
    readonly told: (agentId: AgentId, marks: ReadonlyArray<ProvidedMark>) => Effect.Effect<boolean>
    /**
     * Stores the marks of the credentials that the agent used for a plan, which may be newer than the agent's last report.
     * Does nothing if the agent has reported since it claimed the plan.
     */
    readonly used: (
      agentId: AgentId,
      takenAt: string,
      bindings: ReadonlyArray<{ readonly name: string; readonly mark?: string | undefined }>
    ) => Effect.Effect<void>
    /**
     * Voids every unapplied plan whose credentials are no longer available on any agent of its pool. Keeps a plan while an
     * agent that has the plan's credentials may still return.
     */
    readonly voidReplaced: Effect.Effect<void>
  }
>()("svc/actors/running/agent-pool/ProvidedMarks") {
  static readonly layer = Layer.effect(
    ProvidedMarks,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const vault = yield* Vault
      const ledger = yield* RunLedger
      const presence = yield* AgentPresence

      const marksOf = (agentId: AgentId) =>
        ProvidedMarkRow.rows(sql)`SELECT * FROM agent_provided_marks WHERE agent_id = ${agentId} ORDER BY name`

      const told = Effect.fn("ProvidedMarks.told")(function* (agentId: AgentId, marks: ReadonlyArray<ProvidedMark>) {
        const before = new Map((yield* marksOf(agentId)).map(({ mark, name }) => [name, mark]))
        const after = new Map(marks.map(({ mark, name }) => [name, mark]))
        if (before.size === after.size && [...after].every(([name, mark]) => before.get(name) === mark)) return false
        yield* sql`DELETE FROM agent_provided_marks WHERE agent_id = ${agentId}`
        const rows = [...after].map(([name, mark]) => ({ agent_id: agentId, name, mark }))
        yield* inParts(rows, (some) => sql`INSERT INTO agent_provided_marks ${ProvidedMarkRow.several(sql, some)}`)
        return true
      }, Effect.orDie)

      const used = Effect.fn("ProvidedMarks.used")(function* (
        agentId: AgentId,
        takenAt: string,
        bindings: Parameters<ProvidedMarks["Service"]["used"]>[2]
      ) {
        const reported = yield* Effect.orDie(AgentSessionRow.some(
          sql,
          "created_at"
        )`SELECT created_at FROM agent_sessions
          WHERE agent_id = ${agentId} AND draining = 0 AND created_at >= ${takenAt} LIMIT 1`)
        if (reported.length > 0) return
        for (const { mark, name } of yield* keyedMarks(vault, bindings)) {
          // Stores only marks whose names the agent has reported before, so that no agent can fill the table.
          yield* Effect.orDie(sql`UPDATE agent_provided_marks SET ${ProvidedMarkRow.changes(sql, { mark })}
            WHERE agent_id = ${agentId} AND name = ${name} AND mark <> ${mark}`)
        }
      })

      const voidReplaced = Effect.gen(function* () {
        const plans = yield* MarkedPlan.rows(sql)`SELECT r.id, r.pool, p.provided_marks
          FROM run_plans p JOIN runs r ON r.id = p.run_id
          WHERE p.provided_marks IS NOT NULL AND ${sql.literal(pendingPlan("r."))} ORDER BY r.created_at, r.id`
        const agents = new Map<string, ReadonlyArray<AgentCredentials>>()
        for (const { id, pool, provided_marks } of plans) {
          const own = agents.get(pool) ?? (yield* credentialsOf({ sql, presence }, pool))
          agents.set(pool, own)
          const replaced = replacedOf(ProvidedMarksJson.read(provided_marks), own)
          if (replaced.length > 0) yield* ledger.supersedePlan(id, replacedReason(pool, replaced))
        }
      }).pipe(transaction(sql), Effect.orDie, Effect.withSpan("ProvidedMarks.voidReplaced"))

      return ProvidedMarks.of({ keyed: (said) => keyedMarks(vault, said), told, used, voidReplaced })
    })
  )
}
