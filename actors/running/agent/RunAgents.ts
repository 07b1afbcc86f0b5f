import { Clock, Context, Effect, Layer, Schema } from "effect"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { RunAgent } from "../../../schema/records/RunAgent.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { storedRecord } from "../../base/database/StoredRecord.ts"
import { rowShape } from "../../base/database/Table.ts"
import { monotonicNow } from "../../base/MonotonicNow.ts"
import { AgentRow } from "../agent-pool/PoolRows.ts"
import { present, type RunRow } from "../../ledger/run/RunRow.ts"
import { AgentLeases } from "./AgentLeases.ts"
import { AgentRunRow } from "./AgentRunRow.ts"
import { givenUpAfter } from "./LeaseVerdict.ts"

const Executing = rowShape({
  id: AgentRow.columns.id,
  name: AgentRow.columns.name,
  ...AgentRunRow.only("kind", "lease_seconds", "checkpoint_serial", "unanswered_since").columns,
  saved_at: Schema.NullOr(Timestamp)
})

const decode = storedRecord(RunAgent)
const at = (millis: number) => new Date(millis).toISOString()

/** Shows readers which agent is executing a Run: the recorded facts, and the time of the agent's last report. */
export class RunAgents extends Context.Service<
  RunAgents,
  {
    /** Returns `undefined` if no agent is executing the Run. */
    readonly of: (
      run: Pick<RunRow, "id" | "status" | "fence" | "start_acknowledged_at">
    ) => Effect.Effect<RunAgent | undefined>
  }
>()("svc/actors/running/agent/RunAgents") {
  static readonly layer = Layer.effect(
    RunAgents,
    Effect.gen(function* () {
      const sql = yield* ReadSql
      const leases = yield* AgentLeases

      const of = Effect.fn("RunAgents.of")(function* ({
        fence,
        id,
        start_acknowledged_at: startedAt,
        status
      }: Parameters<RunAgents["Service"]["of"]>[0]) {
        if (status !== "running") return undefined
        const [row] = yield* Executing.rows(sql)`SELECT a.id, a.name, r.kind, r.lease_seconds, r.checkpoint_serial,
            r.unanswered_since, c.saved_at FROM agent_runs r JOIN agents a ON a.id = r.agent_id
          LEFT JOIN run_checkpoints c ON c.run_id = r.run_id WHERE r.run_id = ${id} AND r.fence = ${fence}`
        if (row === undefined) return undefined
        const millis = yield* Clock.currentTimeMillis
        const lease = yield* leases.shown({ runId: id, fence })
        const instant = yield* monotonicNow
        const renewedAt = lease === undefined ? undefined : millis - Number((instant - lease.heardAt) / 1_000_000n)
        const isSilent = lease?.isUnreachable === true && renewedAt !== undefined
        const lasts = Number(givenUpAfter(row.kind, startedAt !== null, row.lease_seconds) / 1_000_000n)
        const state = { savedAt: row.saved_at, savedSerial: row.checkpoint_serial, newestSerial: lease?.newestSerial }
        return decode({
          id: row.id,
          name: row.name,
          fence,
          leaseSeconds: row.lease_seconds,
          ...present({
            // Ignores a lease granted at startup, because its agent may not have contacted the server.
            heardAt: renewedAt === undefined || lease?.isResumed === true ? undefined : at(renewedAt),
            unansweredSince: row.unanswered_since,
            givenUpAt: isSilent ? at(renewedAt + lasts) : undefined,
            startedAt,
            state: row.kind === "apply" && startedAt !== null ? present(state) : undefined
          })
        })
      }, Effect.orDie)

      return RunAgents.of({ of })
    })
  )
}
