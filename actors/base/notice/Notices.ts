import { randomBytes } from "node:crypto"
import { Clock, Context, Effect, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { type NoticeData, noticeDataText } from "../../../schema/records/Notice.ts"
import type { NoticeKind, NoticeSubject, SentNoticeKind } from "../../../schema/records/NoticeEndpoint.ts"
import {
  type CapsuleId,
  NoticeDeliveryId,
  type NoticeEndpointId,
  NoticeId,
  type ProjectId,
  type WorkspaceId
} from "../../../schema/records/Ids.ts"
import type { Timestamp } from "../../../schema/records/Primitives.ts"
import { type ChangesOf, rowShape } from "../database/Table.ts"
import { base32, idBytes, IdOrder, type IdKind, now, sortedAlphabet } from "../Identity.ts"
import {
  NoticeDeliveryRow,
  NoticeEndpointRow,
  NoticeFilterJson,
  NoticeRow,
  NoticeSequenceRow,
  subjectText
} from "./NoticeRows.ts"

/** The facts of a notice. `data` never contains a value, a log line or a secret. */
export interface NoticeFacts<K extends SentNoticeKind> {
  /** `null` for the server's own notices. */
  readonly workspaceId: WorkspaceId | null
  readonly subject: NoticeSubject
  /** The dashboard page relative to the Workspace, such as `runs/run_...`. */
  readonly path: string
  /** The Capsule that filters match against. Absent if the notice is not about a Capsule. */
  readonly capsule?: { readonly id: CapsuleId; readonly projectId: ProjectId; readonly environment: string } | undefined
  /** True for a fact that affects several Workspaces. The server's own endpoints then get a separate notice. */
  readonly isOnlyForWorkspace?: boolean | undefined
  readonly data: NoticeData<K>
}

/** Callbacks that wake this process's deliveries after a transaction that wrote a notice has committed. */
export const NoticeSignals = Context.Reference<Set<() => void>>("svc/actors/base/notice/NoticeSignals", {
  defaultValue: () => new Set()
})

const wake = Effect.map(NoticeSignals, (listeners) => {
  for (const listener of listeners) listener()
})

/** Wakes the deliveries after the caller's transaction has committed. */
export const wakeAfterCommit = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const signals = yield* NoticeSignals
  yield* sql.afterCommit(Effect.provideService(wake, NoticeSignals, signals))
})

/** Creates an id as `newId` does, but requires no service, because notices are written in many places. */
const mintId = Effect.fnUntraced(function* <A>(kind: IdKind<A>, prefix: string) {
  const order = yield* IdOrder
  const id = order.next(randomBytes(idBytes), yield* Clock.currentTimeMillis)
  return kind.make(`${prefix}_${base32(id, sortedAlphabet)}`)
})

const Wanted = rowShape({ endpoints: Schema.Int, mails: Schema.Int })

/**
 * Returns true if an endpoint or a person has subscribed to this kind. Called before the facts of a notice are read, because
 * reading them takes several queries and most servers send only a few kinds of notices.
 */
const isWanted = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, kind: NoticeKind) {
  const [found] = yield* Wanted.rows(sql)`SELECT
    EXISTS (SELECT 1 FROM notice_endpoints WHERE state = 'active' AND INSTR(kinds, ${`"${kind}"`}) > 0) AS endpoints,
    EXISTS (SELECT 1 FROM notice_mail_kinds WHERE kind = ${kind}) AS mails`
  return { byEndpoints: found?.endpoints === 1, byMail: found?.mails === 1 }
})

const includes = <A>(list: ReadonlyArray<A> | undefined, value: A) => list === undefined || list.includes(value)

const passes = (filterText: string, capsule: NoticeFacts<NoticeKind>["capsule"]): boolean => {
  if (capsule === undefined) return true
  const { capsuleIds, environments, projectIds } = NoticeFilterJson.read(filterText)
  return (
    includes(capsuleIds, capsule.id) &&
    includes(environments, capsule.environment) &&
    includes(projectIds, capsule.projectId)
  )
}

const insertNotice = Effect.fnUntraced(function* <K extends SentNoticeKind>(
  sql: SqlClient.SqlClient,
  kind: K,
  { data, path, subject, workspaceId }: NoticeFacts<K>,
  mails: boolean
) {
  const id = yield* mintId(NoticeId, "ntc")
  yield* sql`INSERT INTO notices ${NoticeRow.values(sql, {
    id,
    workspace_id: workspaceId,
    kind,
    subject_kind: subject.kind,
    subject_id: subject.id,
    path,
    data: noticeDataText(kind, data),
    mail_due: mails ? 1 : null,
    created_at: yield* now
  })}`
  return id
})

const Last = NoticeSequenceRow.only("last")

const insertDelivery = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  endpointId: NoticeEndpointId,
  noticeId: NoticeId,
  kind: SentNoticeKind,
  subject: NoticeSubject
) {
  const text = subjectText(subject)
  const [next] = yield* Last.rows(sql)`INSERT INTO notice_sequences
    ${NoticeSequenceRow.values(sql, { endpoint_id: endpointId, subject: text, last: 1 })}
    ON CONFLICT (endpoint_id, subject) DO UPDATE SET last = notice_sequences.last + 1 RETURNING last`
  const at = yield* now
  const row: NoticeDeliveryRow = {
    id: yield* mintId(NoticeDeliveryId, "ndl"),
    notice_id: noticeId,
    endpoint_id: endpointId,
    kind,
    subject: text,
    sequence: next?.last ?? 1,
    status: "waiting",
    attempts: 0,
    tries: 0,
    last_outcome: null,
    last_status: null,
    next_at: at,
    created_at: at,
    ended_at: null
  }
  yield* sql`INSERT INTO notice_deliveries ${NoticeDeliveryRow.values(sql, row)}`
  return row
})

/**
 * Writes a notice in the caller's transaction. It is sent if and only if the transaction commits. If no endpoint and no person
 * has subscribed to the kind, writes nothing and does not evaluate `facts`. `facts` may return `undefined` if there is nothing to
 * report.
 */
export const writeNotice = Effect.fnUntraced(function* <K extends NoticeKind, E, R>(
  sql: SqlClient.SqlClient,
  kind: K,
  facts: Effect.Effect<NoticeFacts<K> | undefined, E, R>
) {
  const { byEndpoints, byMail } = yield* Effect.orDie(isWanted(sql, kind))
  if (!byEndpoints && !byMail) return
  const notice = yield* facts
  if (notice === undefined) return
  yield* Effect.gen(function* () {
    const forServer = notice.workspaceId === null || notice.isOnlyForWorkspace !== true
    const endpoints = yield* NoticeEndpointRow.some(sql, "id", "filter")`SELECT id, filter FROM notice_endpoints
      WHERE state = 'active' AND INSTR(kinds, ${`"${kind}"`}) > 0
        AND (workspace_id = ${notice.workspaceId} OR (workspace_id IS NULL AND ${forServer ? 1 : 0} = 1))
      ORDER BY created_at, id`
    const wanting = endpoints.filter(({ filter }) => passes(filter, notice.capsule))
    if (wanting.length === 0 && !byMail) return
    const id = yield* insertNotice(sql, kind, notice, byMail)
    for (const endpoint of wanting) yield* insertDelivery(sql, endpoint.id, id, kind, notice.subject)
    yield* wakeAfterCommit(sql)
  }).pipe(Effect.orDie)
})

/** Writes a test notice for one endpoint in the caller's transaction, regardless of the kinds that the endpoint receives. */
export const writeTest = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { id, workspace_id }: NoticeEndpointRow,
  data: NoticeData<"endpoint.test">
) {
  const subject = { kind: "endpoint" as const, id }
  const facts = { workspaceId: workspace_id, subject, path: workspace_id === null ? "" : "settings/notices", data }
  const noticeId = yield* insertNotice(sql, "endpoint.test", facts, false)
  const row = yield* insertDelivery(sql, id, noticeId, "endpoint.test", subject)
  yield* wakeAfterCommit(sql)
  return row
}, Effect.orDie)

/** Removes the selected endpoints and their deliveries. Their notices remain until the retention period ends. */
export const removeEndpoints = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, which: Statement.Fragment) {
  const selected = sql`SELECT id FROM notice_endpoints WHERE ${which}`
  yield* sql`DELETE FROM notice_deliveries WHERE endpoint_id IN (${selected})`
  yield* sql`DELETE FROM notice_endpoints WHERE ${which}`
}, Effect.orDie)

/** Adds an endpoint in the caller's transaction. */
export const insertEndpoint = (sql: SqlClient.SqlClient, row: NoticeEndpointRow) =>
  Effect.orDie(sql`INSERT INTO notice_endpoints ${NoticeEndpointRow.values(sql, row)}`)

export const changeEndpoint = (
  sql: SqlClient.SqlClient,
  id: NoticeEndpointId,
  changes: ChangesOf<typeof NoticeEndpointRow>
) => Effect.orDie(sql`UPDATE notice_endpoints SET ${NoticeEndpointRow.changes(sql, changes)} WHERE id = ${id}`)

/** Drops the deliveries that are waiting for an endpoint. */
export const dropWaiting = (sql: SqlClient.SqlClient, id: NoticeEndpointId, at: Timestamp) =>
  Effect.orDie(sql`UPDATE notice_deliveries
    SET ${NoticeDeliveryRow.changes(sql, { status: "dropped", next_at: null, ended_at: at })}
    WHERE endpoint_id = ${id} AND status = 'waiting'`)

/** Makes a delivery due now and resets its attempts. */
export const sendAgain = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, row: NoticeDeliveryRow) {
  const changes = { status: "waiting" as const, tries: 0, next_at: yield* now, ended_at: null }
  yield* sql`UPDATE notice_deliveries SET ${NoticeDeliveryRow.changes(sql, changes)} WHERE id = ${row.id}`
  yield* wakeAfterCommit(sql)
  return { ...row, ...changes }
}, Effect.orDie)

/**
 * Clears `mail_due` of a notice whose mails are queued in the caller's transaction. Returns `false` if it was already cleared.
 */
export const mailed = (sql: SqlClient.SqlClient, id: NoticeId) =>
  Effect.map(
    NoticeRow.some(
      sql,
      "id"
    )`UPDATE notices SET mail_due = NULL WHERE id = ${id} AND mail_due IS NOT NULL RETURNING id`,
    (rows) => rows.length > 0
  )

/**
 * Disables every endpoint of a restored database and drops its waiting deliveries, in the caller's transaction: an endpoint
 * may have been removed since the backup, and the deliveries that were waiting at that time were sent long ago. Called
 * first, so that the restore itself sends nothing.
 */
export const holdEndpoints = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const at = yield* now
  yield* sql`UPDATE notice_endpoints SET ${NoticeEndpointRow.changes(sql, { state: "disabled", reason: "restored", updated_at: at })}
    WHERE state = 'active'`
  yield* sql`UPDATE notice_deliveries SET ${NoticeDeliveryRow.changes(sql, { status: "dropped", next_at: null, ended_at: at })}
    WHERE status = 'waiting'`
}).pipe(Effect.orDie)

/** Cancels the mails of all existing notices, in the caller's transaction. Called at the end of a restore. */
export const forgetMails = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`UPDATE notices SET mail_due = NULL WHERE mail_due IS NOT NULL`
).pipe(Effect.orDie)
