import { Clock, Context, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { AccessTokenId } from "../../../schema/records/Ids.ts"
import { inParts, valuesOf } from "../../base/database/RowParts.ts"
import { withoutWriteLock } from "../../base/database/WriteLock.ts"

const writeEveryMillis = 60_000
const flushAfter = Duration.seconds(10)

/**
 * Records when tokens were last used, at most once a minute per token and batched in one transaction, so that read-only
 * requests do not each cause a write.
 */
export class TokenUse extends Context.Service<
  TokenUse,
  {
    /**
     * Returns true if a use at `millis` need not be recorded, because the last recorded use is recent. `lastWritten` is the
     * time in the token's row, in milliseconds, or 0 if the token was never used.
     */
    readonly isNoted: (tokenId: AccessTokenId, lastWritten: number, millis: number) => boolean
    /** Records a use. `lastWritten` has the same meaning as in `isNoted`. */
    readonly note: (tokenId: AccessTokenId, lastWritten: number) => Effect.Effect<void>
    /** Writes the batch. Called automatically soon after a use, and when the service stops. */
    readonly flush: Effect.Effect<void>
  }
>()("svc/actors/access/account/TokenUse") {
  static readonly layer = Layer.effect(
    TokenUse,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const scope = yield* Effect.scope
      const pending = new Map<AccessTokenId, number>()
      let scheduled = false

      const flush = Effect.gen(function* () {
        const uses = Array.from(pending, ([tokenId, millis]) => [tokenId, new Date(millis).toISOString()] as const)
        pending.clear()
        scheduled = false
        yield* inParts(
          uses.toSorted(([first], [second]) => (first < second ? -1 : 1)),
          (some) => sql`UPDATE access_tokens SET last_used_at = given.column2 FROM (${valuesOf(sql, some)}) AS given
            WHERE token_id = given.column1 AND (last_used_at IS NULL OR last_used_at < given.column2)`
        ).pipe(withoutWriteLock)
      }).pipe(
        Effect.catchTag("SqlError", (error) => Effect.logWarning("Last uses of tokens were not recorded", error)),
        Effect.withSpan("TokenUse.flush")
      )

      yield* Effect.addFinalizer(() => flush)

      const isNoted = (tokenId: AccessTokenId, lastWritten: number, millis: number) =>
        millis - (pending.get(tokenId) ?? lastWritten) < writeEveryMillis

      return TokenUse.of({
        isNoted,
        note: Effect.fnUntraced(function* (tokenId, lastWritten) {
          const millis = yield* Clock.currentTimeMillis
          if (isNoted(tokenId, lastWritten, millis)) return
          pending.set(tokenId, millis)
          if (scheduled) return
          scheduled = true
          // Run the write outside the caller's transaction, which will have ended by the time the batch is written.
          const outside = Effect.updateContext(flush, (context: Context.Context<never>) =>
            Context.omit(sql.transactionService)(context)
          )
          yield* Effect.forkIn(Effect.delay(outside, flushAfter), scope)
        }),
        flush
      })
    })
  )
}
