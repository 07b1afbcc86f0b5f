import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CapsuleCommands } from "../../../schema/commands/CapsuleCommands.ts"
import { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"

/** Retries automatic plans for new commits that were deferred, for example because the queue was full. */
export class DeferredFollows extends Context.Service<DeferredFollows, { readonly followAll: Effect.Effect<void> }>()(
  "svc/actors/commands/capsule/DeferredFollows"
) {
  static readonly layer = Layer.effect(
    DeferredFollows,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const command = yield* CapsuleCommands

      const followAll = Effect.gen(function* () {
        const deferred = yield* CapsuleRow.some(sql, "id")`SELECT c.id FROM capsules c
          JOIN workspaces w ON w.id = c.workspace_id AND w.archived_at IS NULL AND w.automation_paused_at IS NULL
          WHERE c.deferred_snapshot_id IS NOT NULL ORDER BY c.updated_at, c.id`
        for (const { id } of deferred) yield* Effect.ignore(command.FollowDeferred(id))
      }).pipe(Effect.orDie, Effect.withSpan("DeferredFollows.followAll"))

      return DeferredFollows.of({ followAll })
    })
  )
}
