import { Layer } from "effect"
import { AgentNeeds } from "../../../actors/pool/AgentNeeds.ts"
import { AgentPresence } from "../../../actors/pool/AgentPresence.ts"
import { DeclinedRuns } from "../../../actors/pool/DeclinedRuns.ts"
import { EarlierLeases } from "../../../actors/pool/EarlierLeases.ts"
import { PoolReach } from "../../../actors/pool/PoolReach.ts"

/** What the queue and preparations know about agents in tests where none is connected. */
export const noAgents = PoolReach.layer.pipe(
  Layer.provideMerge(AgentNeeds.layer),
  Layer.provideMerge(Layer.mergeAll(DeclinedRuns.layer, EarlierLeases.layer, AgentPresence.layer))
)
