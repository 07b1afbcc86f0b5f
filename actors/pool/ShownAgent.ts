import { Effect } from "effect"
import type { Agent } from "../../schema/records/AgentPool.ts"
import type { AgentPresence } from "./AgentPresence.ts"
import { type AgentRow, type BusyAgentRow, FactsJson } from "./PoolRows.ts"

const statusOf = (
  { drain_requested_at, revoked_at }: Pick<AgentRow, "drain_requested_at" | "revoked_at">,
  isConnected: boolean,
  drains: boolean
): Agent["status"] => {
  if (revoked_at !== null) return "revoked"
  if (!isConnected) return "silent"
  return drains || drain_requested_at !== null ? "draining" : "connected"
}

/** An agent as it last described itself, and whether it is there. */
export const shownAgent = (presence: AgentPresence["Service"]) =>
  Effect.fnUntraced(function* ({ runs, ...agent }: BusyAgentRow) {
    const { disk, draining, isolation, labels, places, platform, tools, version } = FactsJson.read(agent.facts)
    return {
      id: agent.id,
      pool: agent.pool,
      name: agent.name,
      status: statusOf(agent, yield* presence.isConnected(agent.id), draining),
      version,
      platform,
      tools,
      isolation,
      labels,
      places,
      runs,
      disk,
      enrolledAt: agent.enrolled_at,
      lastContactAt: agent.last_contact_at
    } satisfies Agent
  })
