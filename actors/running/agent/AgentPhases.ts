import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { RunPhase } from "../../../schema/events/RunEvent.ts"
import { rowShape } from "../../base/database/Table.ts"
import { measurePhase } from "../execution/RunMetrics.ts"
import { RunEventRow } from "../../ledger/run/RunJournal.ts"
import type { RunHold } from "../../ledger/run/RunHold.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"
import { AgentRunRow } from "./AgentRunRow.ts"

const Reported = rowShape({ phase: RunPhase, at: RunEventRow.columns.at })
const Claimed = AgentRunRow.only("accepted_at", "result_at")

interface ReportedPhase {
  readonly phase: RunPhase
  readonly at: number
}

/**
 * Start and end of an agent's execution, by the server's clock. If there is no result, the end of the last phase is unknown.
 */
export interface ExecutionSpan {
  readonly acceptedAt: number
  readonly resultAt: number | undefined
  readonly finishedAt: number
}

/**
 * Computes the duration of each phase. Phase times come from the agent's clock, which may differ from the server's, so only
 * differences are used. The last phase ends with the result. The server itself measures the duration of the checks after an
 * apply.
 */
export const phaseDurations = (
  reported: ReadonlyArray<ReportedPhase>,
  { acceptedAt, finishedAt, resultAt }: ExecutionSpan
): ReadonlyArray<{ readonly phase: RunPhase; readonly millis: number }> => {
  const own = reported.filter(({ phase }) => phase !== "check")
  const whole = Math.max(0, (resultAt ?? finishedAt) - acceptedAt)
  const began = own[0]?.at ?? 0
  const took = own.flatMap(({ at, phase }, index) => {
    const next = own[index + 1]?.at
    if (next === undefined && resultAt === undefined) return []
    const millis = next === undefined ? whole - (at - began) : next - at
    // Limits the duration, because a difference may be negative or too large if the agent's clock was changed.
    return [{ phase, millis: Math.min(Math.max(0, millis), whole) }]
  })
  const check = reported.find(({ phase }) => phase === "check")
  return check === undefined ? took : [...took, { phase: check.phase, millis: Math.max(0, finishedAt - check.at) }]
}

/** Records the phase durations of a Run that ended under this hold. */
export const measurePhases = Effect.fn("measurePhases")(function* (
  { fence, runId }: RunHold,
  { finished_at, type }: Pick<RunRow, "finished_at" | "type">
) {
  const sql = yield* SqlClient.SqlClient
  const [claim] = yield* Claimed.rows(sql)`SELECT accepted_at, result_at FROM agent_runs
    WHERE run_id = ${runId} AND fence = ${fence}`
  if (claim === undefined || claim.accepted_at === null) return
  const rows = yield* Reported.rows(sql)`SELECT json_extract(data, '$.phase') AS phase, at FROM run_events
    WHERE run_id = ${runId} AND kind = 'run.phase'
      AND seq > (SELECT MAX(seq) FROM run_events WHERE run_id = ${runId} AND kind = 'run.started') ORDER BY seq`
  const durations = phaseDurations(
    rows.map(({ at, phase }) => ({ phase, at: Date.parse(at) })),
    {
      acceptedAt: Date.parse(claim.accepted_at),
      resultAt: claim.result_at === null ? undefined : Date.parse(claim.result_at),
      // A plan that waits for approval has no finish time.
      finishedAt: finished_at === null ? yield* Clock.currentTimeMillis : Date.parse(finished_at)
    }
  )
  yield* Effect.forEach(durations, ({ millis, phase }) => measurePhase({ type, phase }, millis), { discard: true })
}, Effect.orDie)
