import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import type { ApiError } from "../../../schema/errors/ApiError.ts"
import { AuditActor, AuditEvent } from "../../../schema/records/AuditEvent.ts"
import { AuditEventId, CapsuleId, RunId, WorkspaceId } from "../../../schema/records/Ids.ts"
import type { Timestamp } from "../../../schema/records/Primitives.ts"
import { ReadSql } from "../database/ReadSql.ts"
import { type CursorBinding, Cursors } from "../paging/Cursors.ts"
import { providedService } from "../Provided.ts"
import type { Page, PageRequest } from "../paging/RowPages.ts"
import { beginChains } from "./AuditBeginning.ts"
import { appendAudit, type AuditEntry } from "./AuditEntry.ts"
import { type AuditFilter, matching } from "./AuditFilter.ts"
import { AuditKeys } from "./AuditLink.ts"
import { recordFields } from "./AuditRow.ts"

export type { AuditData, AuditEntry } from "./AuditEntry.ts"

const Row = Schema.Struct({
  id: AuditEventId,
  workspace_id: WorkspaceId,
  actor_kind: AuditActor.fields.kind,
  actor_subject: Schema.NullOr(Schema.String),
  actor_token_id: Schema.NullOr(Schema.String),
  action: Schema.String,
  target_kind: Schema.String,
  target_id: Schema.String,
  capsule_id: Schema.NullOr(CapsuleId),
  run_id: Schema.NullOr(RunId),
  data: Schema.fromJsonString(AuditEvent.fields.data),
  request_id: Schema.NullOr(Schema.String),
  created_at: AuditEvent.fields.createdAt
})

const toEvent = (row: typeof Row.Type): AuditEvent => ({
  ...recordFields(row),
  workspaceId: row.workspace_id,
  data: row.data,
  ...(row.capsule_id === null ? {} : { capsuleId: row.capsule_id })
})

/** The append-only operation history. */
export class Audit extends Context.Service<
  Audit,
  {
    /** Appends an entry in the caller's transaction, so that it is stored if and only if the change is stored. */
    readonly append: (entry: AuditEntry) => Effect.Effect<void>
    /**
     * Returns true if an event of the Capsule since a given time has this value in its data. Includes events of the caller's
     * transaction.
     */
    readonly names: (event: {
      readonly capsuleId: CapsuleId
      readonly action: string
      readonly since: Timestamp
      readonly value: string
    }) => Effect.Effect<boolean>
    /**
     * Returns the history of a Workspace, newest first. Fails with `invalid_request` if the cursor was issued for another
     * list.
     */
    readonly list: (
      workspaceId: WorkspaceId,
      subject: string,
      filter: AuditFilter,
      page: PageRequest
    ) => Effect.Effect<Page<AuditEvent>, ApiError>
  }
>()("svc/actors/base/audit/Audit") {
  static readonly layer = Layer.effect(
    Audit,
    Effect.gen(function* () {
      const read = yield* ReadSql
      const cursors = yield* Cursors
      const key = yield* AuditKeys
      const sql = yield* SqlClient.SqlClient

      yield* beginChains(key)

      const append = (entry: AuditEntry) => appendAudit(key, entry)

      const list = Effect.fn("Audit.list")(function* (
        workspaceId: WorkspaceId,
        subject: string,
        filter: AuditFilter,
        page: PageRequest
      ) {
        const binding: CursorBinding = {
          route: "workspaces.activity",
          subject,
          filter: [workspaceId, filter.action, filter.capsuleId, filter.since, filter.actor, filter.runId, filter.until]
        }
        const [at, id] = page.cursor === undefined ? [] : yield* cursors.decode(binding, page.cursor, 2)
        const conditions = [
          read`workspace_id = ${workspaceId}`,
          ...matching(read, filter),
          ...(at === undefined || id === undefined ? [] : [read`(created_at, id) < (${at}, ${id})`])
        ]
        const rows = yield* SqlSchema.findAll({
          Request: Schema.Void,
          Result: Row,
          execute: () =>
            read`SELECT id, workspace_id, actor_kind, actor_subject, actor_token_id, action, target_kind, target_id, capsule_id, run_id,
                data, request_id, created_at
              FROM audit_events WHERE ${read.and(conditions)}
              ORDER BY created_at DESC, id DESC LIMIT ${page.limit + 1}`
        })(undefined).pipe(Effect.orDie)
        const items = rows.slice(0, page.limit).map(toEvent)
        const last = items.at(-1)
        if (rows.length <= page.limit || last === undefined) return { items }
        return { items, nextCursor: yield* cursors.encode(binding, [last.createdAt, last.id]) }
      })

      const names: Audit["Service"]["names"] = Effect.fn("Audit.names")(function* ({
        action,
        capsuleId,
        since,
        value
      }) {
        const rows =
          yield* sql`SELECT 1 AS one FROM audit_events WHERE capsule_id = ${capsuleId} AND created_at >= ${since}
          AND action = ${action} AND INSTR(data, ${value}) > 0 LIMIT 1`
        return rows.length > 0
      }, Effect.orDie)

      return yield* providedService(Audit, { append, list, names })
    })
  ).pipe(Layer.provide(AuditKeys.layer))
}
