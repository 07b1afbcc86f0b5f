import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import type { ReleaseReason } from "../../../schema/records/Capsule.ts"
import type { CapsuleId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { livingCapsule } from "../../../schema/tables/CapsuleTables.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { StaleReasons } from "../staleness/StaleReasons.ts"
import { DependencyRow } from "../consumption/DependencyRow.ts"
import { RunRow } from "../run/RunRow.ts"

/**
 * Handles a producer that ends, in the caller's transaction: marks its consumers as stale, voids the plans that used its
 * Outputs, and records the reason in each consumer's history. The dependencies are kept, so that the next plan can report
 * why an input is missing.
 */
export const endProducer = Effect.fn("endProducer")(function* (
  context: CommandContext,
  producer: { readonly id: CapsuleId; readonly workspace_id: WorkspaceId },
  reason: ReleaseReason
) {
  const sql = yield* SqlClient.SqlClient
  const audit = yield* Audit
  const staleReasons = yield* StaleReasons
  const voided = new Set(yield* staleReasons.producerMoved(producer.id))
  const rows = yield* DependencyRow.some(
    sql,
    "id",
    "workspace_id",
    "consumer_capsule_id",
    "mode"
  )`SELECT d.id, d.workspace_id, d.consumer_capsule_id, d.mode FROM dependencies d
    JOIN capsules c ON c.id = d.consumer_capsule_id AND ${sql.literal(livingCapsule("c."))}
    WHERE d.producer_capsule_id = ${producer.id} ORDER BY d.created_at, d.id`
  for (const row of rows) {
    const plans = yield* RunRow.some(sql, "id")`SELECT id FROM runs WHERE capsule_id = ${row.consumer_capsule_id}
      AND status = 'superseded' ORDER BY created_at, id`
    const supersededRunIds = plans.filter(({ id }) => voided.has(id)).map(({ id }) => id)
    yield* audit.append({
      workspaceId: row.workspace_id,
      actor: context.actor,
      action: "dependency.producer_released",
      target: { kind: "dependency", id: row.id },
      capsuleId: row.consumer_capsule_id,
      data: { producerCapsuleId: producer.id, mode: row.mode, reason, supersededRunIds },
      requestId: context.requestId
    })
  }
  const own = rows.filter(({ workspace_id }) => workspace_id === producer.workspace_id)
  return {
    consumerCapsuleIds: [...new Set(own.map(({ consumer_capsule_id }) => consumer_capsule_id))],
    consumersElsewhere: new Set(
      rows.filter((row) => !own.includes(row)).map(({ consumer_capsule_id }) => consumer_capsule_id)
    ).size
  }
}, Effect.orDie)
