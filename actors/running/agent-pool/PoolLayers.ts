import { Layer } from "effect"
import { AgentNeeds } from "./AgentNeeds.ts"
import { AgentNonces } from "./AgentNonces.ts"
import { AgentPresence } from "./AgentPresence.ts"
import { AgentSessions } from "./AgentSessions.ts"
import { Agents } from "./Agents.ts"
import { DeclinedRuns } from "./DeclinedRuns.ts"
import { EarlierLeases } from "./EarlierLeases.ts"
import { AgentNotices } from "./AgentNotices.ts"
import { SilentAgents } from "./SilentAgents.ts"
import { ProvidedMarks } from "./ProvidedMarks.ts"
import { PoolObstacles } from "./PoolObstacles.ts"
import { Pools } from "./Pools.ts"
import { ServerKeys } from "./ServerKeys.ts"
import { WorkspacePools } from "./WorkspacePools.ts"

/** Layers of the pool services that the queue uses. */
export const pools = Layer.mergeAll(
  PoolObstacles.layer,
  WorkspacePools.layer,
  SilentAgents.layer,
  AgentNotices.layer
).pipe(
  Layer.provideMerge(Layer.mergeAll(Pools.layer, Agents.layer, AgentNeeds.layer, AgentSessions.layer)),
  Layer.provideMerge(Layer.mergeAll(DeclinedRuns.layer, EarlierLeases.layer, ProvidedMarks.layer, ServerKeys.layer)),
  Layer.provideMerge(Layer.mergeAll(AgentPresence.layer, AgentNonces.layer))
)
