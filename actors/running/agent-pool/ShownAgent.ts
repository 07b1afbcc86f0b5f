import { Effect } from "effect"
import type { Agent } from "../../../schema/records/AgentPool.ts"
import type { AgentPresence } from "./AgentPresence.ts"
import { versionProblem } from "./AgentVersions.ts"
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

/**
 * An agent as it last described itself, and whether it is connected. An agent whose release is not given new Runs is shown as
 * draining.
 */
export const shownAgent = (presence: AgentPresence["Service"], release: string | undefined) =>
  Effect.fnUntraced(function* ({ runs, ...agent }: BusyAgentRow) {
    const facts = FactsJson.read(agent.facts)
    const { disk, isolation, labels, places, platform, provided = [], tools, version } = facts
    const draining = facts.draining || versionProblem(release, facts) !== undefined
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
      provided,
      enrolledAt: agent.enrolled_at,
      lastContactAt: agent.last_contact_at
    } satisfies Agent
  })
