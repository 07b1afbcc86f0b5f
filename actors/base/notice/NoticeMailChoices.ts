import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { Subject } from "../../../schema/records/Ids.ts"
import type { NoticeKind, NoticeMails } from "../../../schema/records/NoticeEndpoint.ts"
import { Audit } from "../audit/Audit.ts"
import { ReadSql } from "../database/ReadSql.ts"
import { transaction } from "../database/Transaction.ts"
import { Mails } from "../mail/Mails.ts"
import { NoticeMailKindRow } from "./NoticeRows.ts"

/** The kinds of notices that each person receives by mail; none initially. */
export class NoticeMailChoices extends Context.Service<
  NoticeMailChoices,
  {
    readonly read: (subject: string) => Effect.Effect<NoticeMails>
    /** Replaces the chosen kinds. */
    readonly choose: (
      context: CommandContext,
      subject: string,
      kinds: ReadonlyArray<NoticeKind>
    ) => Effect.Effect<NoticeMails>
  }
>()("svc/actors/base/notice/NoticeMailChoices") {
  static readonly layer = Layer.effect(
    NoticeMailChoices,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const read = yield* ReadSql
      const audit = yield* Audit
      const { baseUrl } = yield* Mails

      const chosen = Effect.fnUntraced(function* (client: SqlClient.SqlClient, subject: string) {
        const rows = yield* NoticeMailKindRow.some(client, "kind")`SELECT kind FROM notice_mail_kinds
          WHERE subject = ${subject} ORDER BY kind`
        return { sendsMail: baseUrl !== undefined, kinds: rows.map(({ kind }) => kind) }
      }, Effect.orDie)

      return NoticeMailChoices.of({
        read: Effect.fn("NoticeMailChoices.read")((subject) => chosen(read, subject)),
        choose: Effect.fn("NoticeMailChoices.choose")(
          function* (context, subject, kinds) {
            yield* sql`DELETE FROM notice_mail_kinds WHERE subject = ${subject}`
            for (const kind of new Set(kinds)) {
              const row = { subject: Subject.make(subject), kind }
              yield* sql`INSERT INTO notice_mail_kinds ${NoticeMailKindRow.values(sql, row)}`
            }
            yield* audit.append({
              workspaceId: null,
              actor: context.actor,
              action: "account.notice_mails",
              target: { kind: "account", id: subject },
              data: { kinds },
              requestId: context.requestId
            })
            return yield* chosen(sql, subject)
          },
          Effect.orDie,
          transaction(sql)
        )
      })
    })
  )
}

/** Forgets the choices of an account that is being erased, in the caller's transaction. */
export const forgetNoticeMails = (sql: SqlClient.SqlClient, subject: string) =>
  sql`DELETE FROM notice_mail_kinds WHERE subject = ${subject}`
