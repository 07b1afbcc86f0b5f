import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { LogRemoval } from "../../actors/run/LogRemoval.ts"
import type { RemovableLogs } from "../../actors/run/LogCandidates.ts"
import { rowShape } from "../../actors/database/Table.ts"
import { WorkspaceId } from "../../schema/records/Ids.ts"

const Handle = rowShape({ id: WorkspaceId, handle: Schema.String })

/** What goes of one kind and Workspace. */
const Removed = Schema.Struct({
  kind: Schema.Literal("logs"),
  workspaceId: WorkspaceId,
  workspace: Schema.String,
  runs: Schema.Int,
  bytes: Schema.Int
})

export const RemovedByRetention = Schema.Array(Removed)
export type RemovedByRetention = typeof RemovedByRetention.Type

/** What an operator does about records that are older than the server keeps them. */
export class RetentionCommands extends Context.Service<
  RetentionCommands,
  {
    /** What would go now. */
    readonly survey: Effect.Effect<RemovedByRetention>
    /** Removes it at once, with audit events, instead of in the background. */
    readonly prune: Effect.Effect<RemovedByRetention>
  }
>()("svc/operator/RetentionCommands") {
  static readonly layer = Layer.effect(
    RetentionCommands,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const logs = yield* LogRemoval

      const named = Effect.fnUntraced(function* (found: ReadonlyArray<RemovableLogs>) {
        const handles = yield* Handle.rows(sql)`SELECT id, handle FROM workspaces`
        const names = new Map(handles.map(({ handle, id }) => [id, handle]))
        return found.map((each) => ({
          kind: "logs" as const,
          ...each,
          workspace: names.get(each.workspaceId) ?? each.workspaceId
        }))
      }, Effect.orDie)

      return RetentionCommands.of({
        survey: Effect.flatMap(logs.survey, named),
        prune: Effect.flatMap(logs.removeAll, named).pipe(Effect.tap(Effect.logInfo("Done for an operator: svc prune")))
      })
    })
  ).pipe(Layer.provide(LogRemoval.layer))
}
