import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import type { CapsuleId } from "../../../schema/records/Ids.ts"
import { SharedOutput } from "../../../schema/records/OutputShare.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { shareRevoked } from "../consumption/ConsumedOutputs.ts"
import { now } from "../../base/Identity.ts"
import { RunLedger } from "../run/RunLedger.ts"
import { OutputShareRow } from "./OutputShareRow.ts"

const decodeOutputs = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Array(SharedOutput)))

/**
 * Revokes a Capsule's shares, and voids the plans that used them, in the caller's transaction. Both sides see it in their
 * history. Returns the shares.
 */
export const endShares = Effect.fn("endShares")(function* (context: CommandContext, producerCapsuleId: CapsuleId) {
  const sql = yield* SqlClient.SqlClient
  const audit = yield* Audit
  const ledger = yield* RunLedger
  const ended = yield* OutputShareRow.some(
    sql,
    "id",
    "from_workspace_id",
    "to_workspace_id",
    "outputs"
  )`UPDATE output_shares SET ${OutputShareRow.changes(sql, { status: "revoked", revoked_at: yield* now })}
    WHERE producer_capsule_id = ${producerCapsuleId} AND status <> 'revoked'
    RETURNING id, from_workspace_id, to_workspace_id, outputs`
  for (const share of ended) {
    const supersededRunIds = yield* ledger.supersedeConsumers(share.id, shareRevoked)
    const outputs = (yield* decodeOutputs(share.outputs)).map(({ name }) => name)
    for (const workspaceId of [share.from_workspace_id, share.to_workspace_id]) {
      yield* audit.append({
        workspaceId,
        actor: context.actor,
        action: "output_share.revoke",
        target: { kind: "output_share", id: share.id },
        data: {
          fromWorkspaceId: share.from_workspace_id,
          toWorkspaceId: share.to_workspace_id,
          outputs,
          because: "producer_released",
          // How the receiving side uses the share is private to that side.
          ...(workspaceId === share.to_workspace_id ? { supersededRunIds } : {})
        },
        requestId: context.requestId
      })
    }
  }
  return ended.map(({ id }) => id)
}, Effect.orDie)
