import { Cause, Clock, Effect, Layer, Metric, Schedule, Schema } from "effect"
import { ReadSql } from "../../actors/base/database/ReadSql.ts"
import { rowShape } from "../../actors/base/database/Table.ts"
import { Agents } from "../../actors/running/agent-pool/Agents.ts"
import { Pools } from "../../actors/running/agent-pool/Pools.ts"
import { RunQueue } from "../../actors/running/queue/RunQueue.ts"
import { RunRow } from "../../actors/ledger/run/RunRow.ts"
import { localPool } from "../../schema/agent/PoolName.ts"
import { QueueReason } from "../../schema/records/QueuePlace.ts"

const sampleEvery = "15 seconds"

const agents = Metric.gauge("svc_agents", { description: "Agents by pool and state." })

const places = Metric.gauge("svc_agent_places", {
  description: "Number of Runs that the connected agents of a pool can execute at once."
})

const taken = Metric.gauge("svc_agent_places_taken", {
  description: "Number of Runs that the connected agents of a pool execute."
})

const lastContact = Metric.gauge("svc_agent_last_contact_seconds", {
  description: "Time since the last message of any agent of a pool."
})

const waiting = Metric.gauge("svc_agent_runs_waiting", {
  description: "Queued Runs of a pool, by the reason why each waits."
})

const unreachable = Metric.gauge("svc_agent_runs_unreachable", {
  description: "Running Runs of a pool whose agent is silent."
})

const states = ["connected", "draining", "silent"] as const

const Silent = rowShape({ pool: Schema.String, runs: Schema.Int })

/** Samples the metrics of pools and agents. If there are no pools, no further queries are made. */
export const agentMetrics = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* ReadSql
    const pools = yield* Pools
    const enrolled = yield* Agents
    const queue = yield* RunQueue
    /** Pools that have been reported before. A removed pool is still reported, as empty. */
    const known = new Set<string>()

    const sample = Effect.gen(function* () {
      const present = (yield* pools.exist) ? yield* pools.list : []
      for (const { name } of present) known.add(name)
      if (known.size === 0) return
      const all = yield* enrolled.list()
      const silent = yield* Silent.rows(sql)`SELECT pool, COUNT(*) AS runs FROM runs
        WHERE status = 'running' AND agent_unreachable_since IS NOT NULL GROUP BY pool`
      const queued = yield* RunRow.rows(sql)`SELECT * FROM runs WHERE status = 'queued' AND pool <> ${localPool}`
      const found = yield* queue.places(queued)
      const now = yield* Clock.currentTimeMillis
      for (const pool of known) {
        const own = all.filter((agent) => agent.pool === pool)
        for (const state of states) {
          const count = own.filter(({ status }) => status === state).length
          yield* Metric.update(Metric.withAttributes(agents, { pool, state }), count)
        }
        const connected = own.filter(({ status }) => status === "connected")
        const sum = (of: (agent: (typeof own)[number]) => number) =>
          connected.reduce((total, agent) => total + of(agent), 0)
        yield* Metric.update(
          Metric.withAttributes(places, { pool }),
          sum((agent) => agent.places)
        )
        yield* Metric.update(
          Metric.withAttributes(taken, { pool }),
          sum((agent) => agent.runs)
        )
        const heard = own.filter(({ status }) => status !== "revoked").map((agent) => Date.parse(agent.lastContactAt))
        // Do not report a value if there are no agents, because the last value would suggest that everything works.
        const silence = heard.length > 0 ? (now - Math.max(...heard)) / 1000 : Number.NaN
        yield* Metric.update(Metric.withAttributes(lastContact, { pool }), silence)
        const reasons = queued.flatMap((run) => (run.pool === pool ? [found.get(run.id)?.reason] : []))
        for (const reason of QueueReason.literals) {
          const count = reasons.filter((one) => one === reason).length
          yield* Metric.update(Metric.withAttributes(waiting, { pool, reason }), count)
        }
        const lost = silent.find((row) => row.pool === pool)?.runs ?? 0
        yield* Metric.update(Metric.withAttributes(unreachable, { pool }), lost)
      }
    }).pipe(
      // Log database faults, which are defects here, and continue, because they must not stop the sampling.
      Effect.catchCause((cause) =>
        Cause.hasInterrupts(cause)
          ? Effect.failCause(cause)
          : Effect.logWarning("The metrics of agents could not be sampled", cause)
      )
    )

    yield* Effect.forkScoped(Effect.repeat(sample, Schedule.spaced(sampleEvery)))
  })
)
