import { expect } from "bun:test"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient } from "effect/sql"
import { AgentNotices } from "../../../../actors/running/agent-pool/AgentNotices.ts"
import { AgentPresence } from "../../../../actors/running/agent-pool/AgentPresence.ts"
import { AgentId } from "../../../../schema/records/Ids.ts"
import { testAccounts } from "../../../support/Accounts.ts"
import { it } from "../../../support/Effect.ts"
import { add, emptyWorld, named, workspaceId } from "../../upkeep/retention/support/RetainedWorld.ts"

const layer = AgentNotices.layer.pipe(Layer.provideMerge(AgentPresence.layer), Layer.provideMerge(testAccounts))

const at = "1970-01-01T00:00:00.000Z"
const session = (agentId: string) =>
  add("agent_sessions", {
    secret_hash: agentId,
    agent_id: agentId,
    incarnation: "i1",
    draining: 0,
    created_at: at,
    expires_at: "2099-01-01T00:00:00.000Z"
  })

it.effect(
  "each Workspace of a pool is notified once when an agent is silent for three minutes, and once when it returns",
  () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const presence = yield* AgentPresence
      const { report } = yield* AgentNotices
      yield* emptyWorld
      const [pool] = yield* sql<{ name: string }>`SELECT name FROM agent_pools`
      const kinds = JSON.stringify(["agent.unreachable", "agent.back"])
      yield* add("notice_endpoints", { kinds })
      yield* add("notice_endpoints", { id: named("nep", "server"), workspace_id: null, kinds })
      yield* sql`INSERT INTO agent_pool_workspaces ${sql.insert({ pool: pool?.name ?? "", workspace_id: workspaceId, assigned_at: at })}
      ON CONFLICT DO NOTHING`
      yield* sql`UPDATE agents SET revoked_at = ${at}`
      const silent = AgentId.make(named("agt", "silent"))
      const gone = AgentId.make(named("agt", "gone"))
      for (const id of [silent, gone]) {
        yield* add("agents", { id, name: id.slice(-6), sign_key: id, last_contact_at: at, revoked_at: null })
      }
      // `gone` has announced its exit, so it has no session and its silence must not be reported.
      yield* session(silent)
      yield* presence.heard(silent)
      const deliveries = Effect.gen(function* () {
        const rows = yield* sql<{ kind: string; endpoint_id: string }>`SELECT kind, endpoint_id FROM notice_deliveries
        WHERE subject = ${`agent:${silent}`} ORDER BY created_at, endpoint_id`
        return rows.map(({ endpoint_id, kind }) => `${kind} ${endpoint_id.slice(-6)}`)
      })
      yield* report
      yield* TestClock.adjust("2 minutes")
      yield* report
      expect(yield* deliveries).toEqual([])
      yield* TestClock.adjust("2 minutes")
      yield* report
      yield* report
      expect(yield* deliveries).toEqual(["agent.unreachable server", "agent.unreachable aaaaaa"])
      yield* TestClock.adjust("1 minute")
      yield* presence.heard(silent)
      yield* report
      yield* report
      expect((yield* deliveries).slice(2)).toEqual(["agent.back server", "agent.back aaaaaa"])
      expect(yield* sql`SELECT id FROM notice_deliveries WHERE subject = ${`agent:${gone}`}`).toEqual([])
    }).pipe(Effect.provide(Layer.fresh(layer)))
)
