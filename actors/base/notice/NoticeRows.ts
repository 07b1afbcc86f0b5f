import { Context, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { NoticeDeliveryId, NoticeEndpointId, NoticeId, Subject, WorkspaceId } from "../../../schema/records/Ids.ts"
import {
  NoticeDelivery,
  NoticeDeliveryStatus,
  NoticeEndpoint,
  NoticeEndpointReason,
  NoticeEndpointState,
  NoticeFilter,
  NoticeFormat,
  NoticeKind,
  NoticeOutcome,
  NoticeSubject,
  SentNoticeKind
} from "../../../schema/records/NoticeEndpoint.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { jsonText, storedRecord } from "../database/StoredRecord.ts"
import { Flag, type RowOf, table } from "../database/Table.ts"

export const NoticeKindsJson = jsonText(Schema.Array(NoticeKind))
export const NoticeFilterJson = jsonText(NoticeFilter)
export const NoticeDataJson = jsonText(Schema.Json)

/** Receivers of notices. `address` and the secrets are sealed. */
export const NoticeEndpointRow = table("notice_endpoints", {
  id: NoticeEndpointId,
  workspace_id: Schema.NullOr(WorkspaceId),
  name: Schema.String,
  format: NoticeFormat,
  /** The origin of the address. */
  host: Schema.String,
  address: Schema.String,
  secret: Schema.NullOr(Schema.String),
  former_secret: Schema.NullOr(Schema.String),
  former_secret_until: Schema.NullOr(Timestamp),
  /** 0 if the format does not use a secret. */
  secret_version: Schema.Int,
  kinds: NoticeKindsJson,
  filter: NoticeFilterJson,
  state: NoticeEndpointState,
  reason: Schema.NullOr(NoticeEndpointReason),
  failing_since: Schema.NullOr(Timestamp),
  /** The end of a pause that the receiver requested. */
  paused_until: Schema.NullOr(Timestamp),
  last_accepted_at: Schema.NullOr(Timestamp),
  created_by: Schema.NullOr(Subject),
  created_at: Timestamp,
  updated_at: Timestamp
})
export type NoticeEndpointRow = RowOf<typeof NoticeEndpointRow.columns>

/** Facts to report. `path` is the dashboard page, relative to the Workspace. */
export const NoticeRow = table("notices", {
  id: NoticeId,
  workspace_id: Schema.NullOr(WorkspaceId),
  kind: SentNoticeKind,
  subject_kind: NoticeSubject.fields.kind,
  subject_id: Schema.String,
  path: Schema.String,
  data: NoticeDataJson,
  /** True until the mails about the notice have been queued. */
  mail_due: Schema.NullOr(Flag),
  created_at: Timestamp
})
export type NoticeRow = RowOf<typeof NoticeRow.columns>

/** The delivery of one notice to one endpoint. */
export const NoticeDeliveryRow = table("notice_deliveries", {
  id: NoticeDeliveryId,
  notice_id: NoticeId,
  endpoint_id: NoticeEndpointId,
  kind: SentNoticeKind,
  /** `<kind>:<id>` of the subject. */
  subject: Schema.String,
  sequence: Schema.Int,
  status: NoticeDeliveryStatus,
  /** Total number of attempts. Each row of the attempt log is numbered with this value. */
  attempts: Schema.Int,
  /** Number of attempts since the delivery was created or replayed. This number determines the next delay. */
  tries: Schema.Int,
  last_outcome: Schema.NullOr(NoticeOutcome),
  last_status: Schema.NullOr(Schema.Int),
  next_at: Schema.NullOr(Timestamp),
  created_at: Timestamp,
  ended_at: Schema.NullOr(Timestamp)
})
export type NoticeDeliveryRow = RowOf<typeof NoticeDeliveryRow.columns>

export const NoticeAttemptRow = table("notice_attempts", {
  delivery_id: NoticeDeliveryId,
  number: Schema.Int,
  at: Timestamp,
  outcome: NoticeOutcome,
  status: Schema.NullOr(Schema.Int),
  milliseconds: Schema.Int
})

/** The last sequence number used for each subject and endpoint. */
export const NoticeSequenceRow = table("notice_sequences", {
  endpoint_id: NoticeEndpointId,
  subject: Schema.String,
  last: Schema.Int
})

/** A kind of notice that a person receives by mail. */
export const NoticeMailKindRow = table("notice_mail_kinds", { subject: Subject, kind: NoticeKind })

/** Server settings for notices. `baseUrl` has no trailing slash. */
export interface NoticeSettingsShape {
  readonly baseUrl: string
  /** Exact origins that may use plain HTTP and resolve to private addresses. */
  readonly allowOrigins: ReadonlyArray<string>
}

export const NoticeSettings = Context.Reference<NoticeSettingsShape>("svc/actors/base/notice/NoticeSettings", {
  defaultValue: () => ({ baseUrl: "http://localhost", allowOrigins: [] })
})

const decodeEndpoint = storedRecord(NoticeEndpoint)
const decodeDelivery = storedRecord(NoticeDelivery)

/** Returns the endpoint for the API, without its address and secrets. */
export const toNoticeEndpoint = (row: NoticeEndpointRow, waiting: number, at: Timestamp): NoticeEndpoint =>
  decodeEndpoint({
    id: row.id,
    ...(row.workspace_id === null ? {} : { workspaceId: row.workspace_id }),
    name: row.name,
    format: row.format,
    host: row.host,
    kinds: NoticeKindsJson.read(row.kinds),
    filter: NoticeFilterJson.read(row.filter),
    state: row.state,
    ...(row.reason === null ? {} : { reason: row.reason }),
    ...(row.failing_since === null ? {} : { failingSince: row.failing_since }),
    ...(row.last_accepted_at === null ? {} : { lastAcceptedAt: row.last_accepted_at }),
    waiting,
    ...(row.secret_version === 0 ? {} : { secretVersion: row.secret_version }),
    ...(row.former_secret_until === null || row.former_secret_until <= at
      ? {}
      : { formerSecretUntil: row.former_secret_until }),
    ...(row.created_by === null ? {} : { createdBy: row.created_by }),
    createdAt: row.created_at,
    updatedAt: row.updated_at
  })

/** Formats a subject for the `subject` column of a delivery. */
export const subjectText = ({ id, kind }: NoticeSubject): string => `${kind}:${id}`

const subjectOf = (text: string) => {
  const [kind = "", ...id] = text.split(":")
  return { kind, id: id.join(":") }
}

export const toNoticeDelivery = (row: NoticeDeliveryRow): NoticeDelivery =>
  decodeDelivery({
    id: row.id,
    endpointId: row.endpoint_id,
    noticeId: row.notice_id,
    kind: row.kind,
    subject: subjectOf(row.subject),
    sequence: row.sequence,
    status: row.status,
    attempts: row.attempts,
    ...(row.last_outcome === null ? {} : { lastOutcome: row.last_outcome }),
    ...(row.last_status === null ? {} : { lastStatus: row.last_status }),
    ...(row.next_at === null ? {} : { nextAttemptAt: row.next_at }),
    createdAt: row.created_at,
    ...(row.ended_at === null ? {} : { endedAt: row.ended_at })
  })

/**
 * Returns the Workspace's endpoints that svc disabled or ended, oldest first. People may still expect notices from these
 * endpoints.
 */
export const stoppedEndpoints = (sql: SqlClient.SqlClient, workspaceId: WorkspaceId) =>
  Effect.orDie(
    NoticeEndpointRow.some(sql, "id", "name", "reason", "updated_at")`SELECT id, name, reason, updated_at
      FROM notice_endpoints WHERE workspace_id = ${workspaceId} AND state <> 'active' AND reason <> 'person'
      ORDER BY updated_at, id`
  )
