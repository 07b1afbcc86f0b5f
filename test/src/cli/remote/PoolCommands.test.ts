import { expect } from "bun:test"
import { ConfigProvider, Duration, Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { AccessTokens } from "../../../../actors/access/account/AccessTokens.ts"
import { AgentMonitor } from "../../../../actors/running/agent/AgentMonitor.ts"
import { serviceContext } from "../../../../schema/commands/Command.ts"
import { Pools } from "../../../../actors/running/agent-pool/Pools.ts"
import { Subject } from "../../../../schema/records/Ids.ts"
import { version } from "../../../../src/Version.ts"
import { makeClient } from "../../../../src/client/index.ts"
import { add, of, run } from "../../../actors/upkeep/retention/support/RetainedWorld.ts"
import { representativeRows } from "../../database/support/RepresentativeRows.ts"
import { after } from "../../http/support/FarPlane.ts"
import { testAgent } from "../../http/support/TestAgent.ts"
import { serve } from "../../operator/support/Server.ts"
import { folder, live, svc } from "../support/CommandLine.ts"

const furnished = [
  "users",
  "workspaces",
  "memberships",
  "projects",
  "connections",
  "sources",
  "install_configs",
  "capsules"
]

const setUp = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const [table, values] of representativeRows) {
    if (furnished.includes(table)) yield* sql`INSERT INTO ${sql(table)} ${sql.insert(values)} ON CONFLICT DO NOTHING`
  }
  const pools = yield* Pools
  yield* pools.create("far", { leaseSeconds: 600 })
  yield* pools.assign("far", of("ws", "a"))
  const { secret } = yield* pools.token("far", { uses: 1, lifetime: Duration.hours(1) })
  const subject = Subject.make(of("usr", "a"))
  const issued = yield* (yield* AccessTokens).create(serviceContext, subject, { name: "t", scopes: ["read", "write"] })
  return { enrolment: secret, token: Redacted.value(issued.secret) }
})

live(
  "pool commands release a Run only with its current fence and a confirmation that the tool is dead",
  () =>
    Effect.gen(function* () {
      const { services, url } = yield* serve(`${yield* folder}/data`)
      const within = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(effect, services)
      const { enrolment, token } = yield* within(setUp)
      const agent = yield* testAgent(url, enrolment, {
        places: 3,
        version,
        tools: [{ name: "opentofu", version: "1.10.2" }]
      })
      yield* agent.hello()
      const config = ConfigProvider.layer(
        ConfigProvider.fromEnvRecord({ HOME: "/nowhere", SVC_TOKEN: token, SVC_URL: url, SVC_WORKSPACE: "alpha" })
      )
      const told = (...args: ReadonlyArray<string>) => svc(args).pipe(Effect.provide(config))

      expect((yield* told("pool", "list")).out).toMatch(/^far +1 +0 +0 +0 of 3 taken +0$/m)
      expect((yield* told("pool", "agents", "--pool", "far")).out).toMatch(
        /^far +one +connected +0 of 3 taken +linux_amd64/m
      )
      expect(JSON.parse((yield* told("pool", "agents", "--pool", "near", "--json")).out)).toEqual({ agents: [] })

      // An agent holds the plan, but has stopped reporting.
      const held = {
        status: "running",
        type: "plan",
        finished_at: null,
        pool: "far",
        slot_pool: "agents:far",
        attempt: 1
      }
      const id = yield* within(run("held", { ...held, owner: agent.agentId, fence: 3 }))
      const claim = { run_id: id, fence: 3, agent_id: agent.agentId, kind: "plan", lease_seconds: 60 }
      yield* within(add("agent_runs", { ...claim, accepted_at: "2026-01-01T00:00:00.000Z" }))
      // An agent from another release keeps its Runs and gets no new Runs.
      yield* agent.hello([], { facts: { version: "99.0.0" } })
      expect(yield* Effect.flip(agent.next(agent.claim()))).toMatchObject({ _tag: "UpgradeRequired" })
      expect((yield* told("pool", "agents")).out).toMatch(/^far +one +draining/m)
      yield* agent.as(agent.client.Renew({ held: [], disk: agent.facts.disk, draining: false }))
      const monitor = yield* within(AgentMonitor)
      yield* within(monitor.resume)
      const shown = yield* told("run", "get", id)
      expect(shown.out).toMatch(/^agent +one \(agt_\w+\), fence 3$/m)
      const heard = yield* told("run", "release", id, "--fence", "3", "--tool-is-dead", "--json")
      expect(JSON.parse(heard.error)).toMatchObject({ error: { code: "failed_precondition" } })
      // Simulates a server that started half a minute ago and has received nothing from the agent since then.
      yield* within(after(-31, monitor.resume))
      yield* within(monitor.look)
      expect((yield* told("run", "get", id)).out).toMatch(/^unreachable +since /m)
      const unasked = yield* told("run", "release", id)
      expect([unasked.code, unasked.error]).toEqual([2, expect.stringContaining("--fence")])
      const unstated = yield* told("run", "release", id, "--fence", "3")
      expect([unstated.code, unstated.error]).toEqual([2, expect.stringContaining("two applies at once")])
      const other = yield* told("run", "release", id, "--fence", "2", "--tool-is-dead", "--json")
      expect(JSON.parse(other.error)).toMatchObject({ error: { code: "guard_conflict" } })
      const client = yield* makeClient({ baseUrl: url, token: Redacted.make(token) })
      expect((yield* client.runs.read({ params: { runId: id } })).run.status).toBe("running")
      const released = yield* told(
        "run",
        "release",
        id,
        "--fence",
        "3",
        "--tool-is-dead",
        "--reason",
        "Gone.",
        "--json"
      )
      expect([released.code, JSON.parse(released.out)]).toMatchObject([0, { run: { id, status: "queued" } }])
    }).pipe(Effect.scoped),
  60_000
)
