import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ApiError, notFound } from "../../../schema/errors/ApiError.ts"
import { InterfaceCommands } from "../../../schema/commands/InterfaceCommands.ts"
import { actorLayer, commandsTo, handle } from "../../Actor.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { DueWork } from "../../base/DueWork.ts"
import { now } from "../../base/Identity.ts"
import { CapsuleId } from "../../../schema/records/Ids.ts"
import { InterfaceMaterialization } from "./InterfaceMaterialization.ts"
import { IntentRow, toFailure } from "./InterfaceRow.ts"

/** The Interface actor: carries out the intents of one Capsule, one at a time. */
export const layer = actorLayer(
  InterfaceCommands,
  CapsuleId,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const materialization = yield* InterfaceMaterialization
    const audit = yield* Audit
    const due = yield* DueWork
    const read = yield* ReadSql
    const send = yield* commandsTo(InterfaceCommands)

    const pending = IntentRow.some(
      read,
      "id",
      "capsule_id",
      "workspace_id"
    )`SELECT id, capsule_id, workspace_id FROM interface_intents WHERE status = 'pending' ORDER BY created_at, id`
    yield* due.serve({
      kind: "interface",
      due: Effect.orDie(pending),
      step: ({ capsule_id, id }) => send(capsule_id, "Materialize", { intentId: id })
    })

    return (capsuleId: CapsuleId) => {
      const load = Effect.fnUntraced(function* (intentId: string) {
        const rows = yield* Effect.orDie(
          IntentRow.rows(sql)`SELECT * FROM interface_intents WHERE id = ${intentId} AND capsule_id = ${capsuleId}`
        )
        return rows[0] === undefined ? yield* notFound("Materialisation failure") : rows[0]
      })

      return handle(InterfaceCommands, {
        Materialize: ({ payload: { intentId } }) => materialization.materialize(intentId).pipe(transaction(sql)),

        Retry: Effect.fnUntraced(function* ({ payload: { context, expected, intentId } }) {
          const intent = yield* load(intentId)
          // The exact failure and its state: anything else is a conflict.
          const moved = yield* Effect.orDie(sql`UPDATE interface_intents
          SET ${IntentRow.changes(sql, { status: "pending", attempt: expected.attempt + 1, updated_at: yield* now })}
          WHERE id = ${intentId} AND status = 'failed' AND attempt = ${expected.attempt} AND code = ${expected.code}
            AND state_version_id = (SELECT current_state_version_id FROM capsules WHERE id = ${capsuleId}) RETURNING id`)
          if (moved.length === 0) {
            return yield* new ApiError({
              code: "guard_conflict",
              message:
                "The failure is not the expected one any more, or the Capsule was applied since. List the failures again."
            })
          }
          const attempt = expected.attempt + 1
          yield* audit.append({
            workspaceId: intent.workspace_id,
            actor: context.actor,
            action: "interface.retry",
            target: { kind: "interface_intent", id: intentId },
            capsuleId,
            data: { key: intent.interface_key, code: expected.code, attempt },
            requestId: context.requestId
          })
          yield* sql.afterCommit(due.wake)
          return toFailure(yield* load(intentId))
        }, transaction(sql))
      })
    }
  })
)
