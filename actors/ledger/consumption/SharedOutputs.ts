import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { SharedOutput } from "../../../schema/records/OutputShare.ts"
import { rowShape } from "../../base/database/Table.ts"
import { type CapsuleId, OutputShareId, type WorkspaceId } from "../../../schema/records/Ids.ts"

// Shares are created in a folder above this one.
const ActiveShare = rowShape({ id: OutputShareId, outputs: Schema.String })

const decodeShared = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Array(SharedOutput)))

/** The producer's name for an Output, and the share that provides it. */
export interface SharedFrom {
  readonly name: string
  readonly shareId: OutputShareId
}

/** What a Capsule currently shares with a Workspace, under the receiver's names. Only approved, unrevoked shares are included. */
export const activeShares = Effect.fn("activeShares")(function* (
  producerCapsuleId: CapsuleId,
  toWorkspaceId: WorkspaceId
) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* ActiveShare.rows(sql)`SELECT s.id, s.outputs FROM output_shares s
    JOIN capsules c ON c.id = s.producer_capsule_id AND c.workspace_id = s.from_workspace_id
    WHERE s.producer_capsule_id = ${producerCapsuleId} AND s.to_workspace_id = ${toWorkspaceId} AND s.status = 'active'
    ORDER BY s.created_at, s.id`
  const shared = new Map<string, SharedFrom>()
  for (const { id, outputs } of rows) {
    for (const { alias, name } of yield* decodeShared(outputs)) shared.set(alias ?? name, { name, shareId: id })
  }
  return shared
}, Effect.orDie)
