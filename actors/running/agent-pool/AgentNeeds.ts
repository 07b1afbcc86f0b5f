import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Platform, refreshesOnly } from "../../../schema/agent/AgentIdentity.ts"
import { RunId } from "../../../schema/records/Ids.ts"
import { ProvidedName } from "../../../schema/agent/ProvidedName.ts"
import { ToolIdentity } from "../../../schema/records/Run.ts"
import { executionProfile, OperatorConfigs } from "../../ledger/configuration/OperatorConfigs.ts"
import { rowShape } from "../../base/database/Table.ts"
import { isApply } from "../../ledger/run/RunLifecycle.ts"
import { acceptsDrift, RunRow } from "../../ledger/run/RunRow.ts"
import { AgentPresence } from "./AgentPresence.ts"
import { EarlierLeases } from "./EarlierLeases.ts"
import { planHolders } from "./PlanHolders.ts"
import { PoolRow } from "./PoolRows.ts"
import { type AgentNeed, stricter } from "./AgentFit.ts"

const Needed = rowShape({
  pool: PoolRow.columns.name,
  type: RunRow.columns.type,
  purpose: RunRow.columns.purpose,
  plan_run_id: Schema.NullOr(RunId),
  isolation: PoolRow.columns.isolation,
  tool_name: Schema.NullOr(ToolIdentity.fields.name),
  profile: Schema.NullOr(Schema.String),
  plan_tool: Schema.NullOr(ToolIdentity.fields.name),
  plan_version: Schema.NullOr(Schema.String),
  plan_platform: Schema.NullOr(Platform)
})

const Provided = rowShape({ name: ProvidedName })

/**
 * Determines what a Run requires of its agent. The requirements come from the reviewed plan, the Capsule, the execution
 * profile and the pool.
 */
export class AgentNeeds extends Context.Service<
  AgentNeeds,
  { readonly of: (runId: RunId) => Effect.Effect<Option.Option<AgentNeed>> }
>()("svc/actors/running/agent-pool/AgentNeeds") {
  static readonly layer = Layer.effect(
    AgentNeeds,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const operator = yield* OperatorConfigs
      const leases = yield* EarlierLeases
      const presence = yield* AgentPresence

      const of = Effect.fn("AgentNeeds.of")(function* (runId: RunId) {
        const [row] = yield* Needed.rows(
          sql
        )`SELECT p.name AS pool, r.type, r.purpose, r.plan_run_id, p.isolation, c.tool_name,
            json_extract(i.config, '$.operator.profile') AS profile,
            json_extract(plan.evidence, '$.tool.name') AS plan_tool,
            json_extract(plan.evidence, '$.tool.version') AS plan_version,
            (SELECT a.platform FROM agent_runs a WHERE a.run_id = plan.id ORDER BY a.fence DESC LIMIT 1) AS plan_platform
          FROM runs r JOIN agent_pools p ON p.name = r.pool
          LEFT JOIN capsules c ON c.id = r.capsule_id
          LEFT JOIN install_configs i ON i.id = r.install_config_id
          LEFT JOIN runs plan ON plan.id = r.plan_run_id WHERE r.id = ${runId}`
        if (row === undefined) return Option.none()
        const provided = yield* Provided.rows(sql)`SELECT DISTINCT c.provided_name AS name FROM runs r
          JOIN provider_bindings b ON b.install_config_id = r.install_config_id
          JOIN connections c ON c.id = b.connection_id AND c.provided_pool = r.pool
          WHERE r.id = ${runId} AND c.provided_name IS NOT NULL ORDER BY c.provided_name`
        const profile = row.profile === null ? undefined : executionProfile(operator, row.profile)
        return Option.some<AgentNeed>({
          tool:
            row.plan_tool === null
              ? { name: row.tool_name ?? profile?.tool?.name, version: profile?.tool?.version }
              : { name: row.plan_tool, version: row.plan_version ?? undefined },
          platform: row.plan_platform ?? undefined,
          isolation: stricter(row.isolation ?? undefined, profile?.isolation),
          provided: provided.map(({ name }) => name),
          holders: yield* planHolders({ sql, presence }, row.plan_run_id, row.pool),
          ...(row.type === "plan" && row.purpose === acceptsDrift ? { capability: refreshesOnly } : {}),
          heldUntil: isApply(row.type) ? yield* leases.end : undefined
        })
      }, Effect.orDie)

      return AgentNeeds.of({ of })
    })
  )
}
