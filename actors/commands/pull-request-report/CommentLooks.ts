import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Forge, type ForgeRemark } from "../../../runner/forge/Forge.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { SourceId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { type RowOf, rowShape, table } from "../../base/database/Table.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { DueWork } from "../../base/DueWork.ts"
import { now } from "../../base/Identity.ts"
import { provided } from "../../base/Provided.ts"
import { openForge } from "../../inputs/connection/ForgeConnections.ts"
import { PullRequestRow } from "../../ledger/pull-request/PullRequestRow.ts"
import { PullRequestStore } from "../../ledger/pull-request/PullRequestStore.ts"
import { SourceStore } from "../../ledger/source/SourceStore.ts"

/** The only comment that starts an action in svc. */
const planAgain = "/svc plan"
/** If a response contains this many comments, svc requests the next page. */
const fullPage = 30

export const CommentLookRow = table("comment_looks", {
  id: SourceId,
  workspace_id: WorkspaceId,
  taken: Schema.Int,
  /** Time of the newest comment that svc has read. */
  since: Timestamp,
  last_comment: Schema.String
})
type CommentLookRow = RowOf<typeof CommentLookRow.columns>

const Due = rowShape({ id: SourceId, workspace_id: WorkspaceId, looked: Schema.Int })
type DueComments = RowOf<typeof Due.columns>

const isNewer = (look: Pick<CommentLookRow, "last_comment" | "since">) => (remark: ForgeRemark) =>
  BigInt(remark.id) > BigInt(look.last_comment) && Date.parse(remark.createdAt) >= Date.parse(look.since)

const context: CommandContext = { actor: { kind: "webhook" }, actorKey: "webhook" }

/**
 * Reads new comments after each poll of the repository. If somebody who may push to the repository comments `/svc plan`, svc
 * plans the head again, provided that the Source's rule allows the plan. A comment never allows, approves or applies
 * anything.
 */
export class CommentLooks extends Context.Service<
  CommentLooks,
  {
    readonly due: Effect.Effect<ReadonlyArray<DueComments>>
    readonly take: (due: DueComments) => Effect.Effect<void>
  }
>()("svc/actors/commands/pull-request-report/CommentLooks") {
  static readonly layer = Layer.effect(
    CommentLooks,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* Audit
      const forge = yield* Forge
      const sources = yield* SourceStore
      const store = yield* PullRequestStore
      const work = yield* DueWork
      const open = yield* provided(openForge)

      const due = Effect.orDie(Due.rows(sql)`SELECT s.id, s.workspace_id, l.taken AS looked
        FROM sources s JOIN pull_request_looks l ON l.source_id = s.id AND l.asked = l.taken
        LEFT JOIN comment_looks c ON c.id = s.id
        WHERE s.forge_connection_id IS NOT NULL AND s.removed_at IS NULL AND s.status <> 'disabled'
          AND s.pull_requests <> 'off' AND (c.id IS NULL OR c.taken <> l.taken) ORDER BY s.id`)

      const find = Effect.fnUntraced(function* (id: SourceId) {
        const [row] = yield* CommentLookRow.rows(sql)`SELECT * FROM comment_looks WHERE id = ${id}`
        return row
      }, Effect.orDie)

      /** Comments that are older than svc's first poll are not treated as requests. */
      const begin = Effect.fnUntraced(function* ({ id, looked, workspace_id }: DueComments) {
        const since = yield* now
        yield* sql`INSERT INTO comment_looks ${CommentLookRow.values(sql, {
          id,
          workspace_id,
          taken: looked,
          since,
          last_comment: "0"
        })} ON CONFLICT DO NOTHING`
      }, Effect.orDie)

      /** If a forge does not report who has write access, svc ignores every comment. */
      const mayWrite = (...given: Parameters<typeof forge.mayWrite>) =>
        Effect.catchIf(
          forge.mayWrite(...given),
          ({ reason }) => reason === "forbidden" || reason === "missing",
          () => Effect.succeed(false)
        )

      /**
       * Reads the new comments. Returns the numbers of the pull requests for which somebody with write access has requested
       * a new plan.
       */
      const read = Effect.fnUntraced(function* (look: CommentLookRow) {
        const source = yield* sources.find(look.id)
        const place = source === undefined ? undefined : yield* open(source)
        if (place === undefined) return { remarks: [], numbers: new Map<number, string>() }
        const { access, path } = place
        const repository = yield* forge.repository(access, path)
        const remarks = (yield* forge.commentsSince(access, repository, look.since)).filter(isNewer(look))
        const numbers = new Map<number, string>()
        for (const { author, body, number } of remarks) {
          if (body.trim() !== planAgain || numbers.has(number)) continue
          if (yield* mayWrite(access, repository, author)) numbers.set(number, author.login)
        }
        return { remarks, numbers }
      })

      const replan = Effect.fnUntraced(function* (sourceId: SourceId, number: number, login: string) {
        const [row] = yield* Effect.orDie(PullRequestRow.rows(sql)`SELECT * FROM pull_requests
          WHERE source_id = ${sourceId} AND number = ${number} AND state = 'open'`)
        if (row === undefined) return
        yield* store.unplanned(row)
        yield* store.mark(row.id)
        yield* audit.append({
          workspaceId: row.workspace_id,
          actor: context.actor,
          action: "pull_request.replan",
          target: { kind: "source", id: sourceId },
          data: { pullRequestId: row.id, number, login: login.slice(0, 100) }
        })
      })

      const take = Effect.fn("CommentLooks.take")(function* (asked: DueComments) {
        const look = yield* find(asked.id)
        if (look === undefined) return yield* begin(asked)
        const found = yield* Effect.result(read(look))
        if (found._tag === "Failure") {
          // The next poll tries again.
          yield* Effect.logWarning(`Comments of ${asked.id} could not be read: ${found.failure.message}`)
        }
        const { numbers, remarks } =
          found._tag === "Success" ? found.success : { remarks: [], numbers: new Map<number, string>() }
        const last = remarks.at(-1)
        yield* Effect.gen(function* () {
          const served = yield* Effect.orDie(
            sql`UPDATE comment_looks SET ${CommentLookRow.changes(sql, {
              taken: remarks.length < fullPage ? asked.looked : look.taken,
              ...(last === undefined ? {} : { since: new Date(last.createdAt).toISOString(), last_comment: last.id })
            })} WHERE id = ${look.id} AND last_comment = ${look.last_comment} RETURNING id`
          )
          if (served.length === 0) return
          for (const [number, login] of numbers) yield* replan(look.id, number, login)
        }).pipe(transaction(sql))
        if (numbers.size > 0) yield* work.wake
      })

      return CommentLooks.of({ due, take })
    })
  )
}
