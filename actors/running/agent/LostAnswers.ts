import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { AgentId } from "../../../schema/records/Ids.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { now } from "../../base/Identity.ts"
import { monotonicNow, seconds } from "../../base/MonotonicNow.ts"
import type { AgentSession } from "../agent-pool/AgentSessions.ts"
import type { RunHold } from "../../ledger/run/RunHold.ts"
import { RunJournal } from "../../ledger/run/RunJournal.ts"
import { AgentClaims } from "./AgentClaims.ts"

/** Number of seconds an agent must wait for a response before the response is considered lost. */
const lostAfterSeconds = 30
/** Tolerance, in seconds, when comparing the agent's clock with the server's. */
const toleranceSeconds = 5

/**
 * Returns true if responses to an agent are being lost in transit: the agent has waited a long time for a response although
 * the server sent one during that time. If the server was down or the agent's machine was suspended, the server sent no
 * response.
 */
export const areLost = (
  unansweredSeconds: number,
  /** Time since the previous response to the agent; absent for the first response. */
  answeredAgo: bigint | undefined
): boolean =>
  unansweredSeconds >= lostAfterSeconds &&
  answeredAgo !== undefined &&
  answeredAgo < seconds(Math.floor(unansweredSeconds - toleranceSeconds))

/**
 * Detects agents that reach the server but do not receive its responses, and marks their Runs. These agents stop their tools
 * when the leases expire.
 */
export class LostAnswers extends Context.Service<
  LostAnswers,
  {
    /**
     * Called when an agent renews these Runs. `unansweredSeconds` is the time since the agent last received a response.
     * Agents of earlier releases do not report it.
     */
    readonly renewed: (
      session: AgentSession,
      held: ReadonlyArray<RunHold>,
      unansweredSeconds: number | undefined
    ) => Effect.Effect<void>
  }
>()("svc/actors/running/agent/LostAnswers") {
  static readonly layer = Layer.effect(
    LostAnswers,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const claims = yield* AgentClaims
      const journal = yield* RunJournal
      const answered = new Map<AgentId, bigint>()

      /** Records when responses began to get lost, or that responses arrive again. */
      const noted = (session: AgentSession, hold: RunHold, since: string | undefined) =>
        Effect.gen(function* () {
          const row = yield* claims.find(session, hold)
          if (row._tag === "None") return
          const before = row.value.unanswered_since
          if ((before === null) === (since === undefined)) return
          const data = { agentId: hold.owner, since: since ?? before ?? (yield* now) }
          yield* since === undefined
            ? journal.report(hold, "agent.answered", data)
            : journal.report(hold, "agent.unanswered", data)
          yield* claims.change(hold, { unanswered_since: since ?? null })
        }).pipe(
          transaction(sql),
          // The Run has ended in the meantime.
          Effect.catchTag("HoldLost", () => Effect.void)
        )

      const renewed = Effect.fn("LostAnswers.renewed")(function* (
        session: AgentSession,
        held: ReadonlyArray<RunHold>,
        unansweredSeconds: number | undefined
      ) {
        const at = yield* monotonicNow
        const before = answered.get(session.agent.id)
        answered.set(session.agent.id, at)
        if (unansweredSeconds === undefined) return
        const isLost = areLost(unansweredSeconds, before === undefined ? undefined : at - before)
        if (!isLost && unansweredSeconds >= lostAfterSeconds) return
        const since = isLost
          ? new Date(Date.parse(yield* now) - Math.round(unansweredSeconds * 1000)).toISOString()
          : undefined
        for (const hold of held) yield* noted(session, hold, since)
      })

      return LostAnswers.of({ renewed })
    })
  )
}
