import { Cause, Clock, Context, Duration, Effect, Layer, Queue, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { RunId, Subject } from "../../../schema/records/Ids.ts"
import { Role } from "../../../schema/records/Workspace.ts"
import { rowShape } from "../../base/database/Table.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { retryWait } from "../../base/DueWork.ts"
import { KillPoint } from "../../base/KillPoint.ts"
import { Mails } from "../../base/mail/Mails.ts"
import { sentNotice } from "../../base/notice/NoticeBody.ts"
import { NoticeDataJson, NoticeRow, NoticeSettings } from "../../base/notice/NoticeRows.ts"
import { mailed, NoticeSignals } from "../../base/notice/Notices.ts"
import { readRunApprovals } from "../approval/RunApprovalReads.ts"

/** Maximum delay of mails if a wake signal is lost. */
const rereadEvery = Duration.minutes(1)
const batch = 20
/** Maximum number of recipients of one notice, so that a large Workspace cannot cause an endless number of mails. */
const mostReaders = 200

const Candidate = rowShape({ subject: Subject, email: Schema.String, role: Schema.NullOr(Role) })
const Concerned = Schema.Struct({
  run: Schema.optionalKey(Schema.Struct({ id: RunId, startedBy: Schema.optionalKey(Schema.String) })),
  invitationId: Schema.optionalKey(Schema.String)
})
const decodeConcerned = Schema.decodeUnknownOption(Concerned)

const Inviter = rowShape({ invited_by: Schema.NullOr(Schema.String) })

/**
 * The kinds of notices that concern the person who started the Run, provided that a person started it and that person is
 * still a member.
 */
const ofStarter: ReadonlySet<NoticeRow["kind"]> = new Set([
  "run.approved",
  "run.applied",
  "run.failed",
  "run.unknown",
  "run.cancelled"
])

/** Queues mails about notices, for the people whom a notice concerns and who have subscribed to its kind. */
export class NoticeMailing extends Context.Service<
  NoticeMailing,
  {
    /** Queues the mails of all notices that are due now. */
    readonly mailDue: Effect.Effect<void>
    /** Runs `mailDue` after each notice, until it is interrupted. */
    readonly follow: Effect.Effect<never>
  }
>()("svc/actors/access/notice/NoticeMailing") {
  static readonly layer = Layer.effect(
    NoticeMailing,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const read = yield* ReadSql
  const mails = yield* Mails
  const settings = yield* NoticeSettings
  const signals = yield* NoticeSignals
  const killPoint = yield* KillPoint
  const inRead = Effect.provideService(ReadSql, read)

  /**
   * Selects the people who have subscribed to the kind and may read the notice: members of its Workspace, or operators.
   * Selects only people with a verified address.
   */
  const candidates = ({ kind, workspace_id }: NoticeRow) =>
    Candidate.rows(sql)`SELECT u.subject, u.email, m.role FROM notice_mail_kinds k
      JOIN users u ON u.subject = k.subject AND u.status = 'active'
      LEFT JOIN memberships m ON m.subject = u.subject AND m.workspace_id = ${workspace_id} AND m.status = 'active'
      WHERE k.kind = ${kind} AND (${workspace_id === null ? sql`u.is_operator = 1` : sql`m.role IS NOT NULL`})
        AND (u.email_proof IS NOT NULL OR EXISTS (SELECT 1 FROM upstream_identities i
          WHERE i.subject = u.subject AND i.verified_email = u.email))
      ORDER BY u.subject LIMIT ${mostReaders}`

  const mayApprove = (id: RunId, subject: Subject) =>
    readRunApprovals(id, { subject }).pipe(
      inRead,
      Effect.map(({ own }) => own.status === "counts"),
      // The Run has been removed, or is no longer a plan.
      Effect.orElseSucceed(() => false)
    )

  const isMember = Effect.fnUntraced(function* ({ workspace_id }: NoticeRow, subject: string) {
    const found = yield* sql`SELECT 1 AS one FROM memberships WHERE workspace_id = ${workspace_id}
      AND subject = ${subject} AND status = 'active' AND subject NOT IN (SELECT subject FROM users WHERE kind = 'automation')`
    return found.length > 0
  })

  /**
   * Returns the person whom a notice concerns, or `undefined` if the notice concerns everybody who manages the Workspace.
   */
  const addressee = Effect.fnUntraced(function* (row: NoticeRow) {
    const concerned = decodeConcerned(NoticeDataJson.read(row.data))
    if (concerned._tag === "None") return undefined
    const { invitationId, run } = concerned.value
    const [invitation] =
      invitationId === undefined
        ? []
        : yield* Inviter.rows(sql)`SELECT invited_by FROM invitations WHERE id = ${invitationId}`
    const subject = ofStarter.has(row.kind) ? run?.startedBy : invitation?.invited_by
    return subject != null && (yield* isMember(row, subject)) ? subject : undefined
  })

  /** Returns the recipients of a notice, except those whom the notice does not concern. */
  const readers = Effect.fnUntraced(function* (row: NoticeRow) {
    const all = yield* candidates(row)
    if (row.kind === "run.waiting_approval") {
      const concerned = decodeConcerned(NoticeDataJson.read(row.data))
      const id = concerned._tag === "Some" ? concerned.value.run?.id : undefined
      return id === undefined ? [] : yield* Effect.filter(all, ({ subject }) => mayApprove(id, subject))
    }
    const only = yield* addressee(row)
    if (only !== undefined) return all.filter(({ subject }) => subject === only)
    return all.filter(
      ({ role }) => row.workspace_id === null || role === "owner" || (role === "admin" && row.kind !== "rule.changed")
    )
  })

  const mail = Effect.fnUntraced(function* (row: NoticeRow) {
    const found = mails.baseUrl === undefined ? [] : yield* readers(row)
    yield* Effect.gen(function* () {
      // Check again inside the transaction, so that each notice is mailed only once.
      if (!(yield* mailed(sql, row.id))) return
      for (const { email, subject } of found) {
        const notice = yield* sentNotice(sql, settings, { notice_id: row.id, sequence: 1 })
        const content = { kind: "workspace_notice" as const, notice, settingsPage: `${settings.baseUrl}/account` }
        yield* mails.queue(email, content, undefined, { subject, workspaceId: row.workspace_id })
      }
      yield* killPoint("notice.mailing")
    }).pipe(transaction(sql))
  })

  /** Notices whose mails could not be queued. They must not delay other notices. */
  const troubles = new Map<string, { readonly failures: number; readonly until: number }>()

  const failed = Effect.fnUntraced(function* ({ id }: NoticeRow, cause: Cause.Cause<unknown>) {
    const at = yield* Clock.currentTimeMillis
    const failures = (troubles.get(id)?.failures ?? 0) + 1
    const wait = retryWait(failures)
    troubles.set(id, { failures, until: at + wait })
    yield* Effect.logError(
      `The mails of notice ${id} could not be queued. They are tried again in ${wait / 1000} s.`,
      cause
    )
  })

  const mailOrKeep = (row: NoticeRow) =>
    Effect.matchCauseEffect(mail(row), {
      onFailure: (cause) => (Cause.hasInterruptsOnly(cause) ? Effect.interrupt : failed(row, cause)),
      onSuccess: () => Effect.sync(() => void troubles.delete(row.id))
    })

  const mailDue = Effect.gen(function* () {
    const rows = yield* NoticeRow.rows(sql)`SELECT * FROM notices WHERE mail_due IS NOT NULL
      ORDER BY id LIMIT ${batch + troubles.size}`
    const at = yield* Clock.currentTimeMillis
    const due = rows.filter(({ id }) => (troubles.get(id)?.until ?? at) <= at).slice(0, batch)
    yield* Effect.forEach(due, mailOrKeep, { discard: true })
    return due.length
  }).pipe(Effect.orDie)

  const follow = Effect.gen(function* () {
    const wakes = yield* Queue.sliding<void>(1)
    const wake = () => void Queue.offerUnsafe(wakes, undefined)
    yield* Effect.acquireRelease(
      Effect.sync(() => signals.add(wake)),
      () => Effect.sync(() => signals.delete(wake))
    )
    return yield* mailDue.pipe(
      Effect.catchCause((cause) => Effect.as(Effect.logError("Notices could not be mailed", cause), 0)),
      Effect.flatMap((count) =>
        count === batch ? Effect.void : Effect.asVoid(Effect.timeoutOption(Queue.take(wakes), rereadEvery))
      ),
      Effect.forever
    )
  }).pipe(Effect.scoped)

  return NoticeMailing.of({ mailDue: Effect.asVoid(mailDue), follow })
})
