import { Context, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, SqlSchema } from "effect/sql"
import type { ApiError } from "../../schema/errors/ApiError.ts"
import { AuditActor, AuditEvent } from "../../schema/records/AuditEvent.ts"
import { AuditEventId, type CapsuleId, RunId, WorkspaceId } from "../../schema/records/Ids.ts"
import { ReadSql } from "../database/ReadSql.ts"
import { newId, now } from "../Identity.ts"
import { type CursorBinding, Cursors } from "../paging/Cursors.ts"
import type { Page, PageRequest } from "../paging/Page.ts"
import { AuditDataJson, AuditRow } from "./AuditRow.ts"

/** Names, ids and numbers that explain an action; never a value of a variable, output, credential or token. */
export type AuditData = Readonly<Record<string, string | number | boolean | null | ReadonlyArray<string>>>

export interface AuditEntry {
  /** `null` for the installation or an account. */
  readonly workspaceId: WorkspaceId | null
  readonly actor: AuditActor
  /** Dotted, e.g. `run.approve`. */
  readonly action: string
  readonly target: { readonly kind: string; readonly id: string }
  readonly capsuleId?: CapsuleId | undefined
  readonly runId?: RunId | undefined
  readonly data?: AuditData | undefined
  readonly requestId?: string | undefined
}

export interface AuditFilter {
  readonly action?: string | undefined
  readonly capsuleId?: string | undefined
  /** The subject of a person. */
  readonly actor?: string | undefined
  readonly runId?: string | undefined
  /** ISO 8601, inclusive. */
  readonly since?: string | undefined
  /** ISO 8601, exclusive: the next `since` goes on from here without a gap or a repetition. */
  readonly until?: string | undefined
}

const Row = Schema.Struct({
  id: AuditEventId,
  workspace_id: WorkspaceId,
  actor_kind: AuditActor.fields.kind,
  actor_subject: Schema.NullOr(Schema.String),
  actor_token_id: Schema.NullOr(Schema.String),
  action: Schema.String,
  target_kind: Schema.String,
  target_id: Schema.String,
  run_id: Schema.NullOr(RunId),
  data: Schema.fromJsonString(AuditEvent.fields.data),
  request_id: Schema.NullOr(Schema.String),
  created_at: AuditEvent.fields.createdAt
})

const toEvent = (row: typeof Row.Type): AuditEvent => ({
  id: row.id,
  workspaceId: row.workspace_id,
  actor: {
    kind: row.actor_kind,
    ...(row.actor_subject === null ? {} : { subject: row.actor_subject }),
    ...(row.actor_token_id === null ? {} : { tokenId: row.actor_token_id })
  },
  action: row.action,
  target: { kind: row.target_kind, id: row.target_id },
  ...(row.run_id === null ? {} : { runId: row.run_id }),
  data: row.data,
  ...(row.request_id === null ? {} : { requestId: row.request_id }),
  createdAt: row.created_at
})

/** Writes an entry in the caller's transaction, where the service does not exist yet: before the vault is open. */
export const appendAudit = Effect.fn("Audit.append")(function* (entry: AuditEntry) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO audit_events ${AuditRow.values(sql, {
    id: yield* newId(AuditEventId, "act"),
    workspace_id: entry.workspaceId,
    actor_kind: entry.actor.kind,
    actor_subject: entry.actor.subject ?? null,
    actor_token_id: entry.actor.tokenId ?? null,
    action: entry.action,
    target_kind: entry.target.kind,
    target_id: entry.target.id,
    capsule_id: entry.capsuleId ?? null,
    run_id: entry.runId ?? null,
    data: AuditDataJson.write(entry.data ?? {}),
    request_id: entry.requestId ?? null,
    created_at: yield* now
  })}`
}, Effect.orDie)

/** The append-only operation history. */
export class Audit extends Context.Service<
  Audit,
  {
    /** Writes an entry in the caller's transaction: it exists exactly if the change does. */
    readonly append: (entry: AuditEntry) => Effect.Effect<void>
    /** The history of a Workspace, newest first. Fails with `invalid_request` on a foreign cursor. */
    readonly list: (
      workspaceId: WorkspaceId,
      subject: string,
      filter: AuditFilter,
      page: PageRequest
    ) => Effect.Effect<Page<AuditEvent>, ApiError>
  }
>()("svc/audit/Audit") {
  static readonly layer = Layer.effect(
    Audit,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const read = yield* ReadSql
      const cursors = yield* Cursors
      const random = yield* SecureRandom.SecureRandom

      const append = (entry: AuditEntry) =>
        appendAudit(entry).pipe(
          Effect.provideService(SqlClient.SqlClient, sql),
          Effect.provideService(SecureRandom.SecureRandom, random)
        )

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
          ...(filter.action === undefined ? [] : [read`action = ${filter.action}`]),
          ...(filter.capsuleId === undefined ? [] : [read`capsule_id = ${filter.capsuleId}`]),
          ...(filter.actor === undefined ? [] : [read`actor_subject = ${filter.actor}`]),
          ...(filter.runId === undefined ? [] : [read`run_id = ${filter.runId}`]),
          ...(filter.since === undefined ? [] : [read`created_at >= ${filter.since}`]),
          ...(filter.until === undefined ? [] : [read`created_at < ${filter.until}`]),
          ...(at === undefined || id === undefined ? [] : [read`(created_at, id) < (${at}, ${id})`])
        ]
        const rows = yield* SqlSchema.findAll({
          Request: Schema.Void,
          Result: Row,
          execute: () =>
            read`SELECT id, workspace_id, actor_kind, actor_subject, actor_token_id, action, target_kind, target_id, run_id,
                data, request_id, created_at
              FROM audit_events WHERE ${read.and(conditions)}
              ORDER BY created_at DESC, id DESC LIMIT ${page.limit + 1}`
        })(undefined).pipe(Effect.orDie)
        const items = rows.slice(0, page.limit).map(toEvent)
        const last = items.at(-1)
        if (rows.length <= page.limit || last === undefined) return { items }
        return { items, nextCursor: yield* cursors.encode(binding, [last.createdAt, last.id]) }
      })

      return Audit.of({ append, list })
    })
  )
}
