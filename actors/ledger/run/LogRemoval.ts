import { Clock, Context, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Audit } from "../../base/audit/Audit.ts"
import { serviceContext } from "../../Command.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { now } from "../../base/Identity.ts"
import { KillPoint } from "../../base/KillPoint.ts"
import { makeCooldown } from "../../base/Cooldown.ts"
import { logCandidates, type LookedAt, type RemovableLogs, sizesOf } from "./LogCandidates.ts"
import { RetentionSettings } from "./RetentionSettings.ts"
import { RunLogChunkRow } from "./RunLogChunkRow.ts"

/** A batch of lines is at most 64 KiB, and deleted pages are overwritten: a larger transaction would delay writers. */
const chunksAtOnce = 32
/** Lets writers go first between steps. */
const pause = "5 millis"
/** Steps in one turn of the cleanup, which has other work to do. */
const stepsOfTurn = 200
/** Logs that were kept are examined again after this time. */
const cooldown = Duration.toMillis("1 hour")

/** What remains of a pass over the ledger. */
interface Pass {
  after: LookedAt | undefined
  ended: boolean
}

/**
 * Removes logs that have passed the operator's retention period and that nothing needs (`LogRetention`). A step either marks a
 * batch of Runs, with one audit event per Workspace, or deletes lines of marked Runs; each is one short transaction, so a process
 * may die between any two, and the next one continues.
 */
export class LogRemoval extends Context.Service<
  LogRemoval,
  {
    /** What would be removed now, by Workspace. */
    readonly survey: Effect.Effect<ReadonlyArray<RemovableLogs>>
    /** Removes everything that may be removed, and returns it by Workspace. */
    readonly removeAll: Effect.Effect<ReadonlyArray<RemovableLogs>>
    /** Removes some of it, for the background cleanup. */
    readonly removeSome: Effect.Effect<void>
  }
>()("svc/actors/ledger/run/LogRemoval") {
  static readonly layer = Layer.effect(
    LogRemoval,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const read = yield* ReadSql
      const audit = yield* Audit
      const killPoint = yield* KillPoint
      const { logs } = yield* RetentionSettings

      const before = Effect.map(Clock.currentTimeMillis, (millis) =>
        new Date(millis - Duration.toMillis(logs)).toISOString()
      )

      const mark = Effect.fn("LogRemoval.mark")(function* (pass: Pass) {
        const until = yield* before
        const { ids, next } = yield* logCandidates(sql, until, pass.after)
        const sizes = yield* sizesOf(sql, ids)
        if (ids.length > 0) {
          yield* sql`UPDATE runs SET log_removed_at = ${yield* now}, log_removing = 1 WHERE ${sql.in("id", ids)}`
        }
        for (const { bytes, runs, workspaceId } of sizes) {
          yield* audit.append({
            workspaceId,
            actor: serviceContext.actor,
            action: "run_log.remove",
            target: { kind: "workspace", id: workspaceId },
            data: { runs, bytes, endedBefore: until }
          })
        }
        return { sizes, next }
      }, transaction(sql))

      /** `false` when no marked Run has lines left. */
      const erase = Effect.gen(function* () {
        const gone = yield* RunLogChunkRow.some(sql, "run_id")`DELETE FROM run_log_chunks WHERE (run_id, first_seq) IN (
            SELECT c.run_id, c.first_seq FROM runs r JOIN run_log_chunks c ON c.run_id = r.id
            WHERE r.log_removing = 1 ORDER BY c.run_id, c.first_seq LIMIT ${chunksAtOnce}) RETURNING run_id`
        if (gone.length === chunksAtOnce) return true
        yield* sql`UPDATE runs SET log_removing = 0 WHERE log_removing = 1`
        return gone.length > 0
      }).pipe(transaction(sql), Effect.withSpan("LogRemoval.erase"))

      const isErasing = Effect.orDie(
        Effect.map(read`SELECT 1 AS one FROM runs WHERE log_removing = 1 LIMIT 1`, (rows) => rows.length > 0)
      )

      /**
       * Deletes lines before marking more Runs: no more than one batch of Runs is partly removed at any time. `undefined` when
       * nothing was left to do.
       */
      const step = Effect.fnUntraced(function* (
        pass: Pass
      ): Effect.fn.Return<ReadonlyArray<RemovableLogs> | undefined> {
        if ((yield* isErasing) && (yield* erase)) {
          yield* killPoint("log_removal.erased")
          return []
        }
        if (pass.ended) return undefined
        // Most background turns find nothing, and a transaction would cost every other writer a commit.
        const seen = yield* Effect.orDie(logCandidates(read, yield* before, pass.after))
        const { next, sizes } = seen.ids.length === 0 ? { ...seen, sizes: [] } : yield* mark(pass)
        yield* killPoint("log_removal.marked")
        pass.after = next
        pass.ended = next === undefined
        return sizes
      })

      const inTotal = (parts: ReadonlyArray<RemovableLogs>): ReadonlyArray<RemovableLogs> =>
        [...Map.groupBy(parts, ({ workspaceId }) => workspaceId)].map(([workspaceId, of]) => ({
          workspaceId,
          runs: of.reduce((sum, { runs }) => sum + runs, 0),
          bytes: of.reduce((sum, { bytes }) => sum + bytes, 0)
        }))

      const survey = Effect.gen(function* () {
        const until = yield* before
        const found: Array<RemovableLogs> = []
        let after: LookedAt | undefined
        do {
          const { ids, next } = yield* logCandidates(read, until, after)
          const sizes = yield* sizesOf(read, ids)
          found.push(...sizes)
          after = next
          yield* Effect.sleep(pause)
        } while (after !== undefined)
        return inTotal(found)
      }).pipe(Effect.orDie, Effect.withSpan("LogRemoval.survey"))

      const removeAll = Effect.gen(function* () {
        const pass: Pass = { after: undefined, ended: false }
        const removed: Array<RemovableLogs> = []
        for (;;) {
          const found = yield* step(pass)
          if (found === undefined) return inTotal(removed)
          removed.push(...found)
          yield* Effect.sleep(pause)
        }
      }).pipe(Effect.withSpan("LogRemoval.removeAll"))

      let background: Pass = { after: undefined, ended: false }
      const turn = Effect.gen(function* () {
        if (background.ended) background = { after: undefined, ended: false }
        for (let steps = 0; steps < stepsOfTurn; steps++) {
          if ((yield* step(background)) === undefined) return true
          yield* Effect.sleep(pause)
        }
        return false
      })
      const afterCooldown = makeCooldown(cooldown)
      const removeSome = afterCooldown(turn).pipe(Effect.withSpan("LogRemoval.removeSome"))

      return LogRemoval.of({ survey, removeAll, removeSome })
    })
  )
}
