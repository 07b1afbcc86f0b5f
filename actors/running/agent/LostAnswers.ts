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

/** The answers to an agent that has waited for one for this long are considered lost. */
const lostAfterSeconds = 30
/** The clocks of agent and server are compared with this tolerance. */
const toleranceSeconds = 5

/**
 * True if the line loses the answers to an agent: the agent has waited long for an answer, and the server has answered meanwhile.
 * After an outage of the server or a suspension of the machine the agent has waited too, but the server has answered nothing.
 */
export const areLost = (
  unansweredSeconds: number,
  /** The time since the agent's previous answer; absent if this is the first. */
  answeredAgo: bigint | undefined
): boolean =>
  unansweredSeconds >= lostAfterSeconds &&
  answeredAgo !== undefined &&
  answeredAgo < seconds(Math.floor(unansweredSeconds - toleranceSeconds))

/** Marks the Runs of an agent that reaches the server but receives no answers, because its tool is stopped when its lease ends. */
export class LostAnswers extends Context.Service<
  LostAnswers,
  {
    /** An agent that holds these Runs has renewed, and has had no answer for this long. Older agents do not report it. */
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

      /** Records when the answers began to be lost, or that they arrive again. */
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
          // The Run ended meanwhile.
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
