import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { localPool } from "../../schema/agent/PoolName.ts"
import { dateOfAnswer } from "../database/ReadHorizon.ts"
import { rowShape } from "../database/Table.ts"
import type { ListedRun } from "../run/RunRow.ts"
import { lackOf, needInWords } from "./AgentFit.ts"
import { AgentNeeds } from "./AgentNeeds.ts"
import { AgentPresence } from "./AgentPresence.ts"
import { AgentRow, FactsJson } from "./PoolRows.ts"

const Assigned = rowShape({ assigned: Schema.Int })

/** Why a queued Run of a pool of agents cannot start now, regardless of turns. */
export class PoolReach extends Context.Service<
  PoolReach,
  { readonly missing: (run: Pick<ListedRun, "id" | "pool" | "workspace_id">) => Effect.Effect<string | undefined> }
>()("svc/actors/pool/PoolReach") {
  static readonly layer = Layer.effect(
    PoolReach,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const presence = yield* AgentPresence
      const needs = yield* AgentNeeds

      const connectedOf = Effect.fnUntraced(function* (pool: string) {
        const agents = yield* AgentRow.rows(sql)`SELECT * FROM agents WHERE pool = ${pool} AND revoked_at IS NULL`
        return yield* Effect.filter(agents, ({ id }) => presence.isConnected(id))
      })

      const missing = Effect.fn("PoolReach.missing")(function* ({
        id,
        pool,
        workspace_id
      }: Pick<ListedRun, "id" | "pool" | "workspace_id">) {
        if (pool === localPool) return undefined
        // Whether an agent is connected changes without a commit, so an answer about it is valid for a second.
        yield* dateOfAnswer
        const assigned = yield* Assigned.rows(sql)`SELECT 1 AS assigned FROM agent_pool_workspaces w
          JOIN agent_pools p ON p.name = w.pool AND p.archived_at IS NULL
          WHERE w.pool = ${pool} AND w.workspace_id = ${workspace_id}`
        if (assigned.length === 0) return `The operator has not assigned the pool ${pool} to this Workspace.`
        const connected = yield* connectedOf(pool)
        if (connected.length === 0) return `No agent of the pool ${pool} is connected.`
        const need = yield* needs.of(id)
        if (Option.isNone(need)) return undefined
        const all = connected.map((agent) => FactsJson.read(agent.facts))
        if (all.every((facts) => lackOf(facts, need.value) !== undefined)) {
          return `No connected agent of the pool ${pool} has ${needInWords(need.value)}.`
        }
        return connected.every(
          ({ drain_requested_at }, index) => drain_requested_at !== null || all[index]?.draining === true
        )
          ? `Every connected agent of the pool ${pool} is draining.`
          : undefined
      }, Effect.orDie)

      return PoolReach.of({ missing })
    })
  )
}
