import { Layer } from "effect"
import { AgentNeeds } from "../../../actors/running/agent-pool/AgentNeeds.ts"
import { AgentPresence } from "../../../actors/running/agent-pool/AgentPresence.ts"
import { DeclinedRuns } from "../../../actors/running/agent-pool/DeclinedRuns.ts"
import { EarlierLeases } from "../../../actors/running/agent-pool/EarlierLeases.ts"
import { PoolObstacles } from "../../../actors/running/agent-pool/PoolObstacles.ts"

/** Makes the queue and preparations behave as if no agent were connected. */
export const noAgents = PoolObstacles.layer.pipe(
  Layer.provideMerge(AgentNeeds.layer),
  Layer.provideMerge(Layer.mergeAll(DeclinedRuns.layer, EarlierLeases.layer, AgentPresence.layer))
)
