import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AuditRemoval } from "../../actors/base/audit/AuditRemoval.ts"
import { rowShape } from "../../actors/base/database/Table.ts"
import { RecordRemoval } from "../../actors/upkeep/retention/RecordRemoval.ts"
import { KeepReason } from "../../actors/upkeep/retention/RetainedKind.ts"
import { LogRemoval } from "../../actors/ledger/run/LogRemoval.ts"
import { WorkspaceId } from "../../schema/records/Ids.ts"
import { RetainedKindName } from "../../schema/records/Retention.ts"

const Handle = rowShape({ id: WorkspaceId, handle: Schema.String })

/** Removed records of one kind in one Workspace. Audit events without a Workspace belong to the installation and its accounts. */
const Removed = Schema.Union([
  Schema.Struct({
    kind: Schema.Literal("logs"),
    workspaceId: WorkspaceId,
    workspace: Schema.String,
    runs: Schema.Int,
    bytes: Schema.Int
  }),
  Schema.Struct({
    kind: Schema.Literal("audit_events"),
    workspaceId: Schema.NullOr(WorkspaceId),
    workspace: Schema.NullOr(Schema.String),
    events: Schema.Int
  }),
  Schema.Struct({
    kind: RetainedKindName,
    workspaceId: WorkspaceId,
    workspace: Schema.String,
    records: Schema.Int,
    bytes: Schema.Int
  })
])
type Removed = typeof Removed.Type

/** Removed records, and records that are kept although their retention period has ended. */
export const RetentionReport = Schema.Struct({
  removed: Schema.Array(Removed),
  kept: Schema.Array(Schema.Struct({ kind: RetainedKindName, reason: KeepReason, records: Schema.Int }))
})
export type RetentionReport = typeof RetentionReport.Type

/** Commands for records whose retention period has ended. */
export class RetentionCommands extends Context.Service<
  RetentionCommands,
  {
    /** Lists the records that would be removed now, and the reasons why other records are kept. */
    readonly survey: Effect.Effect<RetentionReport>
    /** Removes the records immediately, with audit events. */
    readonly prune: Effect.Effect<RetentionReport>
  }
>()("svc/src/operator/RetentionCommands") {
  static readonly layer = Layer.effect(
    RetentionCommands,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const logs = yield* LogRemoval
      const audit = yield* AuditRemoval
      const records = yield* RecordRemoval

      const nameOf = Effect.gen(function* () {
        const handles = yield* Handle.rows(sql)`SELECT id, handle FROM workspaces`
        const names = new Map(handles.map(({ handle, id }) => [id, handle]))
        return (id: WorkspaceId) => names.get(id) ?? id
      }).pipe(Effect.orDie)

      const surveyed = Effect.all([logs.survey, records.survey, audit.survey])
      // Remove logs first, because a Run can be removed only after its log.
      const removed = Effect.all([
        logs.removeAll,
        Effect.map(records.removeAll, (removable) => ({ removable, kept: [] })),
        audit.removeAll
      ])

      const report = Effect.fnUntraced(function* ([removable, ofRecords, events]: Effect.Success<typeof surveyed>) {
        const name = yield* nameOf
        const all: ReadonlyArray<Removed> = [
          ...removable.map((each) => ({ kind: "logs" as const, ...each, workspace: name(each.workspaceId) })),
          ...ofRecords.removable.map((each) => ({ ...each, workspace: name(each.workspaceId) })),
          ...events.map((each) => ({
            kind: "audit_events" as const,
            ...each,
            workspace: each.workspaceId === null ? null : name(each.workspaceId)
          }))
        ]
        return { removed: all, kept: ofRecords.kept }
      })

      return RetentionCommands.of({
        survey: Effect.flatMap(surveyed, report),
        prune: Effect.flatMap(removed, report).pipe(Effect.tap(Effect.logInfo("Done for an operator: svc prune")))
      })
    })
  ).pipe(Layer.provide([LogRemoval.layer, AuditRemoval.layer, RecordRemoval.layer]))
}
