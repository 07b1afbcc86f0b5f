import { Context, Effect, Layer } from "effect"
import { monotonicNow, seconds } from "../../base/MonotonicNow.ts"
import type { AgentId, RunId } from "../../../schema/records/Ids.ts"

/** The time for which a declined Run is not offered to the same agent again. */
const notOfferedFor = seconds(60)
/**
 * The time for which no drift check is stopped on that agent for a declined Run. It is longer than `notOfferedFor`;
 * otherwise an agent that always declines would cause a drift check to be stopped before each offer.
 */
const noRoomFor = seconds(600)

/**
 * Tracks the Runs that each agent recently declined. Kept in memory: after a restart, the server offers each Run once more.
 */
export class DeclinedRuns extends Context.Service<
  DeclinedRuns,
  {
    readonly declined: (agentId: AgentId, runId: RunId) => Effect.Effect<void>
    readonly accepted: (agentId: AgentId, runId: RunId) => Effect.Effect<void>
    readonly mayBeOffered: (agentId: AgentId, runId: RunId) => Effect.Effect<boolean>
    /** Returns true if a free slot on this agent would help the Run. */
    readonly isWorthRoom: (agentId: AgentId, runId: RunId) => Effect.Effect<boolean>
  }
>()("svc/actors/running/agent-pool/DeclinedRuns") {
  static readonly layer = Layer.sync(DeclinedRuns, () => {
    const declinedAt = new Map<string, bigint>()
    const keyOf = (agentId: AgentId, runId: RunId) => `${agentId} ${runId}`

    const isOver = (period: bigint) => (agentId: AgentId, runId: RunId) =>
      Effect.map(monotonicNow, (at) => {
        const since = declinedAt.get(keyOf(agentId, runId))
        return since === undefined || at - since > period
      })

    return DeclinedRuns.of({
      declined: (agentId, runId) =>
        Effect.map(monotonicNow, (at) => {
          for (const [key, since] of declinedAt) if (at - since > noRoomFor) declinedAt.delete(key)
          declinedAt.set(keyOf(agentId, runId), at)
        }),
      accepted: (agentId, runId) => Effect.sync(() => void declinedAt.delete(keyOf(agentId, runId))),
      mayBeOffered: isOver(notOfferedFor),
      isWorthRoom: isOver(noRoomFor)
    })
  })
}
