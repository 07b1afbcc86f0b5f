import { afterAll, expect } from "bun:test"
import { Effect, Layer, Metric } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { AgentMonitor } from "../../../actors/running/agent/AgentMonitor.ts"
import { Agents } from "../../../actors/running/agent-pool/Agents.ts"
import { agentMetrics } from "../../../src/observability/AgentMetrics.ts"
import { suite } from "../../support/Effect.ts"
import { eventually } from "../../support/Eventually.ts"
import { settled } from "../../support/Journey.ts"
import { after, applyingOn, begun, farPlane, offerTo, planOn, world } from "../http/support/FarPlane.ts"

const plane = suite(farPlane)
afterAll(plane.dispose)

const text = PrometheusMetrics.format()

/** Adds up all series with this name and these labels. */
const sumOf = (series: readonly [name: string, ...labels: ReadonlyArray<string>]) =>
  Effect.map(text, (lines) => {
    const [name, ...labels] = series
    return lines
      .split("\n")
      .filter((line) => line.startsWith(`${name}{`) && labels.every((label) => line.includes(label)))
      .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0)
  })

plane.live(
  "pools, agents and waiting Runs are gauges, and a counter records Runs of agents as they end",
  () =>
    Effect.gen(function* () {
      const { enrolled } = yield* world
      const lost = ["svc_runs_ended_total", 'code="agent_lost"', 'type="apply"'] as const
      const planned = ["svc_run_duration_seconds_count", 'type="plan"'] as const
      const waits = ["svc_run_wait_seconds_count", 'type="plan"'] as const
      const phases = ["svc_run_phase_duration_seconds_count", 'type="plan"', 'phase="plan"'] as const
      const before = yield* Effect.forEach([lost, planned, waits, phases], sumOf)
      const agent = yield* enrolled({ places: 2 })
      const { claim } = yield* applyingOn(agent, "measured")
      const monitor = yield* AgentMonitor
      yield* after(31, monitor.look)
      yield* begun("measured-later")
      yield* Effect.gen(function* () {
        yield* Layer.build(agentMetrics)
        const sampled = yield* eventually(text, (lines) => lines.includes("svc_agent_runs_unreachable{"))
        for (const line of [
          'svc_agents{pool="far",state="connected"} 1',
          'svc_agents{pool="far",state="silent"} 0',
          'svc_agent_places{pool="far"} 2',
          'svc_agent_places_taken{pool="far"} 1',
          'svc_agent_runs_unreachable{pool="far"} 1',
          'svc_agent_runs_waiting{pool="far",reason="no_agent"} 0'
        ]) {
          expect(sampled.split("\n")).toContain(line)
        }
        expect(sampled).toContain('svc_agent_last_contact_seconds{pool="far"} ')
      }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()), Effect.scoped)
      yield* monitor.release(claim.runId)
      yield* settled(claim.runId)
      const later = yield* offerTo(agent)
      yield* planOn(agent, later.offer)
      yield* (yield* Agents).revoke(agent.agentId)
      // The count is updated in the background after the request that delivers the result.
      yield* eventually(sumOf(planned), (count) => count === (before[1] ?? 0) + 2)
      expect(yield* sumOf(lost)).toBe((before[0] ?? 0) + 1)
      expect(yield* sumOf(waits)).toBe((before[2] ?? 0) + 2)
      yield* eventually(sumOf(phases), (count) => count === (before[3] ?? 0) + 2)
    }),
  120_000
)
