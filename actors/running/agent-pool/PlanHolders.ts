import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { RunId } from "../../../schema/records/Ids.ts"
import { rowShape } from "../../base/database/Table.ts"
import type { AgentPresence } from "./AgentPresence.ts"
import { AgentRow, FactsJson, ProvidedMarkRow, ProvidedMarksJson } from "./PoolRows.ts"
import { type AgentCredentials, holdersOf } from "./ReplacedCredentials.ts"

const PlanMarks = rowShape({ provided_marks: ProvidedMarksJson })
const MarkedAgent = AgentRow.only("id", "facts")

interface Sources {
  readonly sql: SqlClient.SqlClient
  readonly presence: AgentPresence["Service"]
}

/** Returns the credentials that each agent of a pool reports, and whether the agent is silent. */
export const credentialsOf = Effect.fnUntraced(function* ({ presence, sql }: Sources, pool: string) {
  const agents = yield* MarkedAgent.rows(sql)`SELECT id, facts FROM agents WHERE pool = ${pool} AND revoked_at IS NULL`
  const marks = yield* ProvidedMarkRow.rows(sql)`SELECT m.* FROM agent_provided_marks m
    JOIN agents a ON a.id = m.agent_id WHERE a.pool = ${pool} AND a.revoked_at IS NULL ORDER BY m.name`
  return yield* Effect.forEach(agents, ({ facts, id }) =>
    Effect.map(
      presence.isSilent(id),
      (isSilent): AgentCredentials => ({
        agentId: id,
        names: FactsJson.read(facts).provided ?? [],
        marks: marks.filter(({ agent_id }) => agent_id === id),
        isSilent
      })
    )
  )
}, Effect.orDie)

/**
 * Returns the agents of a pool whose credentials allow them to apply this plan, or `undefined` if every agent may apply it.
 */
export const planHolders = Effect.fn("planHolders")(function* (sources: Sources, planId: RunId | null, pool: string) {
  if (planId === null) return undefined
  const [plan] = yield* PlanMarks.rows(sources.sql)`SELECT provided_marks FROM run_plans
    WHERE run_id = ${planId} AND provided_marks IS NOT NULL`
  return plan === undefined
    ? undefined
    : holdersOf(ProvidedMarksJson.read(plan.provided_marks), yield* credentialsOf(sources, pool))
}, Effect.orDie)
