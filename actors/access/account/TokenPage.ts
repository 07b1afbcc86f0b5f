import { Effect, Schema } from "effect"
import { SqlSchema } from "effect/sql"
import { invalidRequest } from "../../../schema/errors/ApiError.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { accessTokenColumns, AccessTokenRow } from "./StoredToken.ts"

/** The end of the previous page. */
export interface TokenAnchor {
  readonly createdAt: string
  readonly tokenId: string
}

export interface TokenPage {
  /** All of the subject's tokens, active and revoked, counted before the cursor is applied. */
  readonly total: number
  readonly tokens: ReadonlyArray<AccessTokenRow>
  readonly more: boolean
}

// A page without rows still carries the counts: its token columns are then null.
const Counts = Schema.Struct({ total: Schema.Int, anchors: Schema.Int, token_id: Schema.Null })
const Counted = Schema.Struct({ total: Schema.Int, anchors: Schema.Int, ...AccessTokenRow.fields })

/**
 * Count, cursor anchor and the page of `limit + 1` rows in one statement, so that they are consistent. Ascending by `created_at`,
 * then `token_id`. Fails with `invalid_request` if the anchor is no longer one of the subject's tokens.
 */
export const readTokenPage = Effect.fn("readTokenPage")(function* (
  subject: string,
  limit: number,
  anchor: TokenAnchor | undefined
) {
  const read = yield* ReadSql
  const after =
    anchor === undefined ? read`1 = 1` : read`(created_at, token_id) > (SELECT created_at, token_id FROM anchor)`
  const rows = yield* SqlSchema.findAll({
    Request: Schema.Void,
    Result: Schema.Union([Counted, Counts]),
    execute:
      () => read`WITH mine AS (SELECT ${read.literal(accessTokenColumns)} FROM access_tokens WHERE subject = ${subject}),
      anchor AS (
        SELECT created_at, token_id FROM mine
        WHERE token_id = ${anchor?.tokenId ?? ""} AND created_at = ${anchor?.createdAt ?? ""}
      ),
      page AS (SELECT * FROM mine WHERE ${after} ORDER BY created_at, token_id LIMIT ${limit + 1})
      SELECT counts.total, counts.anchors, page.*
      FROM (SELECT (SELECT COUNT(*) FROM mine) AS total, (SELECT COUNT(*) FROM anchor) AS anchors) AS counts
      LEFT JOIN page ON 1 = 1
      ORDER BY page.created_at, page.token_id`
  })(undefined).pipe(Effect.orDie)
  const [first] = rows
  if (anchor !== undefined && first?.anchors !== 1) {
    return yield* invalidRequest("The cursor's token does not exist any more. Start again without a cursor.")
  }
  const tokens = rows.flatMap(({ total: _total, anchors: _anchors, ...token }) =>
    token.token_id === null ? [] : [token]
  )
  return {
    total: first?.total ?? 0,
    tokens: tokens.slice(0, limit),
    more: tokens.length > limit
  } satisfies TokenPage
})
