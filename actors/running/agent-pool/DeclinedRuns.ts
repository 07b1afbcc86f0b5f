import { Context, Effect, Layer } from "effect"
import { monotonicNow, seconds } from "../../base/MonotonicNow.ts"
import type { AgentId, RunId } from "../../../schema/records/Ids.ts"

/** Time during which a declined Run is not offered to the same agent again. */
const notOfferedFor = seconds(60)
/**
 * Time during which svc stops no drift check on an agent to make room for a Run that the agent declined. Must be longer than
 * `notOfferedFor`; otherwise, for an agent that always declines, svc would stop a drift check before each offer.
 */
const noRoomFor = seconds(600)

/**
 * Tracks the Runs that each agent recently declined. The list is only in memory, so the server offers each Run once more
 * after a restart.
 */
export class DeclinedRuns extends Context.Service<
  DeclinedRuns,
  {
    readonly declined: (agentId: AgentId, runId: RunId) => Effect.Effect<void>
    readonly accepted: (agentId: AgentId, runId: RunId) => Effect.Effect<void>
    readonly mayBeOffered: (agentId: AgentId, runId: RunId) => Effect.Effect<boolean>
    /** Returns true if freeing a slot on this agent could help the Run, because the agent has not recently declined it. */
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
