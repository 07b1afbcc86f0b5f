import { DateTime, Duration, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { ApiError } from "../../../schema/errors/ApiError.ts"
import { Subject, WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../database/Table.ts"

/** Mails that are waiting to be sent, and mails that were sent or abandoned within the last day. */
export const MailRow = table("mails", {
  id: Schema.String,
  recipient: Schema.String,
  /** The person who entered the address; `null` for mails from the operator and for notices. */
  sender: Schema.NullOr(Schema.String),
  workspace_id: Schema.NullOr(WorkspaceId),
  kind: Schema.Literals([
    "invitation",
    "reset_link",
    "address_link",
    "notice",
    "mention",
    "approval_request",
    "workspace_notice"
  ]),
  /** Subject and body, sealed because they contain links; `null` once the mail has been sent or abandoned. */
  content: Schema.NullOr(Schema.String),
  attempts: Schema.Int,
  next_at: Timestamp,
  expires_at: Timestamp,
  created_at: Timestamp,
  ended_at: Schema.NullOr(Timestamp),
  outcome: Schema.NullOr(Schema.Literals(["sent", "refused", "expired", "left"])),
  /** The recipient of a mailed notice, who must be a member of the Workspace. */
  notice_subject: Schema.NullOr(Subject),
  notice_workspace_id: Schema.NullOr(WorkspaceId)
})
export type MailRow = RowOf<typeof MailRow.columns>

/**
 * Limits per hour for mails to addresses that a person entered. Mails from the operator and notices to account owners do not
 * count.
 */
export const mostSentInAnHour = { sender: 30, workspace: 100, server: 300 } as const

/** A person who has triggered a mail to an address that they entered. */
export interface MailSender {
  readonly subject: string
  /** The Workspace for which the mail is sent, if any. */
  readonly workspaceId?: WorkspaceId | undefined
}

/** The reader of a notice. The mail is not sent if the reader has left the Workspace or no longer has an account. */
export interface MailReader {
  readonly subject: Subject
  /** `null` for a notice about the server, which only operators read. */
  readonly workspaceId: WorkspaceId | null
}

const limited = (whose: string, most: number, seconds: number) =>
  new ApiError({
    code: "rate_limited",
    message: `${whose} sent ${most} mails within an hour, the most that is allowed. Nothing was changed. Try again later, or make a link without an address and pass it on.`,
    retryAfter: Math.max(1, Math.ceil(seconds))
  })

/**
 * Fails with `rate_limited` and a retry delay in seconds if the sender, the Workspace or the server has sent too many mails. Call
 * it in the transaction, before writing anything.
 */
export const admitSender = Effect.fn("admitSender")(function* ({ subject, workspaceId }: MailSender) {
  const sql = yield* SqlClient.SqlClient
  const at = yield* DateTime.now
  const since = DateTime.formatIso(DateTime.subtractDuration(at, "1 hour"))
  const checks = [
    { whose: "You have", most: mostSentInAnHour.sender, rows: sql`sender = ${subject}` },
    ...(workspaceId === undefined
      ? []
      : [
          {
            whose: "The people of this Workspace have",
            most: mostSentInAnHour.workspace,
            rows: sql`workspace_id = ${workspaceId}`
          }
        ]),
    { whose: "The people of this server have", most: mostSentInAnHour.server, rows: sql`sender IS NOT NULL` }
  ]
  for (const { most, rows, whose } of checks) {
    const [earliest] = yield* Effect.orDie(MailRow.some(sql, "created_at")`SELECT created_at FROM mails
      WHERE ${rows} AND created_at > ${since} ORDER BY created_at DESC LIMIT 1 OFFSET ${most - 1}`)
    if (earliest === undefined) continue
    const free = DateTime.addDuration(DateTime.makeUnsafe(earliest.created_at), "1 hour")
    return yield* limited(whose, most, Duration.toSeconds(DateTime.distance(at, free)))
  }
})
