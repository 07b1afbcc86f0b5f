import { Effect, Layer, Schedule } from "effect"
import { ExclusiveWork } from "../../base/node/ExclusiveWork.ts"
import { Nodes } from "../../base/node/Nodes.ts"
import { AgentBlobs } from "./AgentBlobs.ts"
import { AgentClaims } from "./AgentClaims.ts"
import { AgentControls } from "./AgentControls.ts"
import { AgentEvidence } from "./AgentEvidence.ts"
import { AgentFileRemoval } from "./AgentFileRemoval.ts"
import { AgentFiles } from "./AgentFiles.ts"
import { AgentLeases } from "./AgentLeases.ts"
import { AgentMonitor } from "./AgentMonitor.ts"
import { AgentOffers } from "./AgentOffers.ts"
import { AgentReleases } from "./AgentReleases.ts"
import { AgentReports } from "./AgentReports.ts"
import { AgentSettlement } from "./AgentSettlement.ts"
import { InlineBlobs } from "./InlineBlobs.ts"
import { LostAnswers } from "./LostAnswers.ts"
import { RunAgents } from "./RunAgents.ts"
import { SharedBlobs } from "./SharedBlobs.ts"

/** Layers of the services that agents use and of the services that process agents' reports. */
export const agents = Layer.mergeAll(AgentReleases.layer, RunAgents.layer).pipe(
  Layer.provideMerge(AgentMonitor.layer),
  Layer.provideMerge(
    Layer.mergeAll(
      AgentOffers.layer,
      AgentSettlement.layer,
      AgentEvidence.layer,
      AgentFiles.layer,
      AgentFileRemoval.layer
    )
  ),
  Layer.provideMerge(AgentReports.layer),
  Layer.provideMerge(Layer.mergeAll(InlineBlobs.layer, LostAnswers.layer)),
  Layer.provideMerge(Layer.mergeAll(AgentClaims.layer, AgentBlobs.layer, AgentControls.layer)),
  Layer.provideMerge(SharedBlobs.layer),
  Layer.provideMerge(AgentLeases.layer)
)

/** Renews the leases of Runs that agents hold, settles results that an earlier process received, and then monitors the leases. */
export const workForAgents = Effect.gen(function* () {
  const monitor = yield* AgentMonitor
  const settlement = yield* AgentSettlement
  yield* monitor.resume
  yield* settlement.resume
  // If one of several servers that share a database stops, another server settles the results that the stopped server
  // received.
  const work = (yield* Nodes).isShared
    ? Effect.repeat(Effect.andThen(monitor.look, settlement.resume), Schedule.spaced("1 second"))
    : monitor.work
  yield* Effect.forkScoped((yield* ExclusiveWork).during("agents")(work))
})
