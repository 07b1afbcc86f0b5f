import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { ApiError, notFound } from "../../../schema/errors/ApiError.ts"
import { InterfaceCommands } from "../../../schema/commands/InterfaceCommands.ts"
import { serve } from "../../Actor.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { transacted } from "../../base/database/Transaction.ts"
import { DueWork } from "../../base/DueWork.ts"
import { now } from "../../base/Identity.ts"
import type { CapsuleId } from "../../../schema/records/Ids.ts"
import { InterfaceMaterialization } from "./InterfaceMaterialization.ts"
import { IntentRow, toFailure } from "./InterfaceRow.ts"

const load = Effect.fnUntraced(function* (capsuleId: CapsuleId, intentId: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* Effect.orDie(
    IntentRow.rows(sql)`SELECT * FROM interface_intents WHERE id = ${intentId} AND capsule_id = ${capsuleId}`
  )
  return rows[0] === undefined ? yield* notFound("Materialisation failure") : rows[0]
})

/** The Interface actors. Each carries out its Capsule's intents one at a time. */
const actors = serve(InterfaceCommands, {
  Materialize: (_, { intentId }) =>
    Effect.flatMap(InterfaceMaterialization, ({ materialize }) => materialize(intentId)).pipe(transacted),

  Retry: Effect.fnUntraced(function* (capsuleId, { context, expected, intentId }) {
    const sql = yield* SqlClient.SqlClient
    const intent = yield* load(capsuleId, intentId)
    // Retries only the failure that the caller expects, and only for the current state; otherwise fails with a conflict.
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
    yield* (yield* Audit).append({
      workspaceId: intent.workspace_id,
      actor: context.actor,
      action: "interface.retry",
      target: { kind: "interface_intent", id: intentId },
      capsuleId,
      data: { key: intent.interface_key, code: expected.code, attempt },
      requestId: context.requestId
    })
    yield* sql.afterCommit((yield* DueWork).wake)
    return toFailure(yield* load(capsuleId, intentId))
  }, transacted)
})

const dueWork = Layer.effectDiscard(
  Effect.gen(function* () {
    const due = yield* DueWork
    const read = yield* ReadSql
    const interfaces = yield* InterfaceCommands
    const pending = IntentRow.some(
      read,
      "id",
      "capsule_id",
      "workspace_id"
    )`SELECT id, capsule_id, workspace_id FROM interface_intents WHERE status = 'pending' ORDER BY created_at, id`
    yield* due.serve({
      kind: "interface",
      due: Effect.orDie(pending),
      step: ({ capsule_id, id }) => interfaces.Materialize(capsule_id, { intentId: id })
    })
  })
)

export const layer = Layer.merge(actors, dueWork)
