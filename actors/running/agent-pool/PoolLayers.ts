import { Layer } from "effect"
import { AgentNeeds } from "./AgentNeeds.ts"
import { AgentPresence } from "./AgentPresence.ts"
import { AgentSessions } from "./AgentSessions.ts"
import { Agents } from "./Agents.ts"
import { DeclinedRuns } from "./DeclinedRuns.ts"
import { EarlierLeases } from "./EarlierLeases.ts"
import { GoneAgents } from "./GoneAgents.ts"
import { ProvidedMarks } from "./ProvidedMarks.ts"
import { PoolReach } from "./PoolReach.ts"
import { Pools } from "./Pools.ts"
import { ServerKeys } from "./ServerKeys.ts"
import { WorkspacePools } from "./WorkspacePools.ts"

/** The part of pools and agents that the queue needs. */
export const pools = Layer.mergeAll(PoolReach.layer, WorkspacePools.layer, GoneAgents.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(Pools.layer, Agents.layer, AgentNeeds.layer, AgentSessions.layer)),
  Layer.provideMerge(Layer.mergeAll(DeclinedRuns.layer, EarlierLeases.layer, ProvidedMarks.layer, ServerKeys.layer)),
  Layer.provideMerge(AgentPresence.layer)
)
