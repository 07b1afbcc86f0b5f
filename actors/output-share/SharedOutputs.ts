import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { SharedOutput } from "../../schema/records/OutputShare.ts"

const decodeShared = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Array(SharedOutput)))

/**
 * What a Capsule shares with a Workspace at this moment: the producer's Output name by the name that the receiver knows it
 * under. Only approved shares that nobody revoked count.
 */
export const activeShares = Effect.fn("activeShares")(function* (producerCapsuleId: string, toWorkspaceId: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ outputs: string }>`SELECT s.outputs FROM output_shares s
    JOIN capsules c ON c.id = s.producer_capsule_id AND c.workspace_id = s.from_workspace_id
    WHERE s.producer_capsule_id = ${producerCapsuleId} AND s.to_workspace_id = ${toWorkspaceId} AND s.status = 'active'
    ORDER BY s.created_at, s.id`
  const shared = new Map<string, string>()
  for (const { outputs } of rows) {
    for (const { alias, name } of yield* decodeShared(outputs)) shared.set(alias ?? name, name)
  }
  return shared
}, Effect.orDie)
