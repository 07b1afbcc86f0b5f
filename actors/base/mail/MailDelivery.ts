import { Context, DateTime, Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { retention } from "../../../schema/records/Retention.ts"
import { transaction } from "../database/Transaction.ts"
import { now } from "../Identity.ts"
import { Vault } from "../vault/Vault.ts"
import { MailRow } from "./MailLimits.ts"
import { deliveryInterval, mailPlace, SealedMail } from "./Mails.ts"
import { MailNotSent, MailTransport } from "./MailTransport.ts"

const backoffMinutes = [1, 5, 15, 60] as const

/** Returns the delay after a failed attempt: short at first, later up to an hour. */
export const retryAfterMillis = (attempts: number): number =>
  (backoffMinutes[Math.max(attempts, 1) - 1] ?? backoffMinutes[backoffMinutes.length - 1] ?? 60) * 60_000

/** Number of mails per batch. Batches are small, so that a slow mail server delays nothing else. */
const batch = 20

/** Sends queued mails in the background. An unavailable mail server delays only mails. */
export class MailDelivery extends Context.Service<
  MailDelivery,
  {
    /** Sends one batch of due mails. Called automatically every few seconds. */
    readonly deliverDue: Effect.Effect<void>
  }
>()("svc/actors/base/mail/MailDelivery") {
  static readonly layer = Layer.effect(
    MailDelivery,
    Effect.gen(function* () {
      const deliverDue = yield* make
      const guarded = Effect.catchCause(deliverDue, (cause) => Effect.logError("Mails were not sent", cause))
      yield* Effect.forkScoped(Effect.forever(Effect.andThen(guarded, Effect.sleep(deliveryInterval))))
      return MailDelivery.of({ deliverDue })
    })
  )
  /** Like `layer`, without the background job, for hosts that call `deliverDue` themselves. */
  static readonly layerByHand = Layer.effect(
    MailDelivery,
    Effect.map(
      Effect.suspend(() => make),
      (deliverDue) => MailDelivery.of({ deliverDue })
    )
  )
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault
  const transport = yield* MailTransport

  const end = Effect.fnUntraced(function* (id: string, outcome: "sent" | "refused" | "expired" | "left") {
    yield* sql`UPDATE mails SET ${MailRow.changes(sql, { content: null, outcome, ended_at: yield* now })}
      WHERE id = ${id} AND ended_at IS NULL`
  })

  /** Counts the attempt before making it, so that a mail that crashes the process is not sent in a loop. */
  const claim = Effect.fnUntraced(function* ({ attempts, id }: MailRow) {
    const next = DateTime.formatIso(DateTime.addDuration(yield* DateTime.now, retryAfterMillis(attempts + 1)))
    const claimed = yield* sql`UPDATE mails SET ${MailRow.changes(sql, { attempts: attempts + 1, next_at: next })}
      WHERE id = ${id} AND ended_at IS NULL AND attempts = ${attempts} RETURNING id`
    return claimed.length > 0
  })

  const contentOf = Effect.fnUntraced(function* ({ content, id }: MailRow) {
    const text = yield* vault.openText(mailPlace(id), content ?? "")
    return yield* Schema.decodeEffect(SealedMail)(Redacted.value(text))
  })

  /**
   * Checks the recipient of a notice again, because the recipient may have left the Workspace or changed the address since
   * the notice was queued.
   */
  const isStillReader = Effect.fnUntraced(function* ({ notice_subject, notice_workspace_id, recipient }: MailRow) {
    if (notice_subject === null) return true
    const mayRead =
      notice_workspace_id === null
        ? sql`u.is_operator = 1`
        : sql`EXISTS (SELECT 1 FROM memberships m WHERE m.workspace_id = ${notice_workspace_id}
            AND m.subject = u.subject AND m.status = 'active')`
    const found = yield* sql`SELECT 1 AS one FROM users u WHERE u.subject = ${notice_subject} AND u.status = 'active'
      AND u.email = ${recipient} AND ${mayRead}`
    return found.length > 0
  })

  const send = Effect.fnUntraced(function* (row: MailRow) {
    const { id, kind, recipient } = row
    if (!(yield* claim(row))) return
    if (!(yield* isStillReader(row))) return yield* end(id, "left")
    const mail = yield* Effect.mapError(contentOf(row), () => new MailNotSent({ permanent: true, code: "unreadable" }))
    yield* transport.send({ id, to: recipient, ...mail })
    yield* end(id, "sent")
    yield* Effect.logInfo(`A mail (${kind}) was handed to the mail server: ${id}.`)
  })

  const sendOrKeep = (row: MailRow) =>
    Effect.catchTag(
      send(row),
      "MailNotSent",
      Effect.fnUntraced(function* ({ code, permanent }) {
        yield* Effect.logWarning(
          `A mail (${row.kind}) was not taken by the mail server, ${permanent ? "for good" : "it is tried again"}: ${code}, ${row.id}.`
        )
        if (permanent) yield* end(row.id, "refused")
      })
    ).pipe(
      // The attempt is counted, so that a mail with a defect waits, and the others of the batch are sent.
      Effect.catchDefect((defect) =>
        Effect.logError(`A mail (${row.kind}) failed, it is tried again: ${row.id}.`, defect)
      )
    )

  /** Reads first without the write lock, because mails rarely expire and a transaction would wait for all writers. */
  const isAnyOver = Effect.gen(function* () {
    const before = DateTime.formatIso(DateTime.subtractDuration(yield* DateTime.now, retention.endedMail.after))
    const found = yield* sql`SELECT 1 AS one FROM mails
      WHERE (ended_at IS NULL AND expires_at <= ${yield* now}) OR ended_at < ${before} LIMIT 1`
    return found.length > 0
  })

  const expire = Effect.gen(function* () {
    const at = yield* now
    const late = yield* MailRow.some(sql, "id", "kind")`UPDATE mails
      SET ${MailRow.changes(sql, { content: null, outcome: "expired", ended_at: at })}
      WHERE ended_at IS NULL AND expires_at <= ${at} RETURNING id, kind`
    for (const { id, kind } of late) yield* Effect.logWarning(`A mail (${kind}) could not be sent in time: ${id}.`)
    const before = DateTime.formatIso(DateTime.subtractDuration(yield* DateTime.now, retention.endedMail.after))
    yield* sql`DELETE FROM mails WHERE ended_at < ${before}`
  })

  return Effect.gen(function* () {
    if (yield* isAnyOver) yield* transaction(sql)(expire)
    const due = yield* MailRow.rows(sql)`SELECT * FROM mails
      WHERE ended_at IS NULL AND next_at <= ${yield* now} ORDER BY next_at, id LIMIT ${batch}`
    yield* Effect.forEach(due, sendOrKeep, { discard: true })
  }).pipe(Effect.orDie, Effect.withSpan("MailDelivery.deliverDue"))
})
