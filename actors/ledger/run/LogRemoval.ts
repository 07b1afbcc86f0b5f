import { Clock, Context, Duration, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Audit } from "../../base/audit/Audit.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { now } from "../../base/Identity.ts"
import { KillPoint } from "../../base/KillPoint.ts"
import { makeCooldown } from "../../base/Cooldown.ts"
import { RunLogChunkRow } from "./RunLogs.ts"
import { type RunId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { retention, RetentionPolicy } from "../../../schema/records/Retention.ts"
import { isFinalStatus } from "../../../schema/records/RunTransitions.ts"
import { capsuleWithEvidence } from "../../../schema/tables/CapsuleTables.ts"
import { Flag, rowShape } from "../../base/database/Table.ts"
import { notSpeculative } from "../../../schema/tables/RunTables.ts"
import { pendingPlan, RunRow } from "./RunRow.ts"

/** Facts that determine whether the log of a Run may be removed. */
export interface KeptLog {
  /** Time at which the last line was written; null while more lines may follow. */
  readonly endedAt: string | null
  /** True if the Run has a final status. */
  readonly isOver: boolean
  /** True for a plan that can still be approved or applied. */
  readonly isPendingPlan: boolean
  /** True for the apply that wrote the Capsule's current state, and for its plan. */
  readonly madeCurrentState: boolean
  /** True if the Run's Capsule or Source has had no later Run. */
  readonly isNewest: boolean
  /** True if the Run left a state that nobody has adopted or discarded yet. */
  readonly leftState: boolean
}

export type LogKeptReason = "open" | "young" | "pending_plan" | "current_state" | "newest" | "left_over_state"

/** Returns the reason why a log is kept, or `undefined` if it may be removed. A log that ended after `before` is always kept. */
export const logKeptReason = (log: KeptLog, before: string): LogKeptReason | undefined => {
  if (log.endedAt === null || !log.isOver) return log.isPendingPlan ? "pending_plan" : "open"
  if (log.endedAt >= before) return "young"
  if (log.isPendingPlan) return "pending_plan"
  if (log.leftState) return "left_over_state"
  if (log.madeCurrentState) return "current_state"
  return log.isNewest ? "newest" : undefined
}

/** Number of Runs that one statement examines. */
const candidatesAtOnce = 100

/** The position of the last examined Run in the list of Runs, which is sorted by the time at which their logs ended. */
interface LookedAt {
  readonly endedAt: string
  readonly id: RunId
}

const Candidate = rowShape({
  id: RunRow.columns.id,
  workspace_id: RunRow.columns.workspace_id,
  status: RunRow.columns.status,
  log_ended_at: RunRow.columns.log_ended_at,
  pending_plan: Flag,
  current_state: Flag,
  newest: Flag,
  left_over_state: Flag
})

const Removable = rowShape({
  workspace_id: WorkspaceId,
  runs: Schema.Int,
  bytes: Schema.NullOr(Schema.Int)
})

/** The removable logs of a Workspace. */
interface RemovableLogs {
  readonly workspaceId: WorkspaceId
  readonly runs: number
  readonly bytes: number
}

interface LogCandidates {
  /** The Runs whose logs may be removed. */
  readonly ids: ReadonlyArray<RunId>
  /** The start of the next batch; `undefined` after the last batch. */
  readonly next: LookedAt | undefined
}

/** Examines `candidatesAtOnce` of the logs that ended before `before`, oldest first, and returns the removable ones. */
const logCandidates = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  before: string,
  after: LookedAt | undefined
) {
  const evidence = sql.literal(capsuleWithEvidence("c."))
  const rows = yield* Candidate.rows(sql)`SELECT r.id, r.workspace_id, r.status, r.log_ended_at,
      CASE WHEN ${sql.literal(pendingPlan("r."))} THEN 1 ELSE 0 END AS pending_plan,
      CASE WHEN EXISTS (SELECT 1 FROM capsules c JOIN state_versions s ON s.id = c.current_state_version_id
        JOIN runs a ON a.id = s.created_by_run_id
        WHERE c.id = r.capsule_id AND ${evidence} AND (a.id = r.id OR a.plan_run_id = r.id)) THEN 1 ELSE 0 END AS current_state,
      CASE WHEN (r.capsule_id IS NOT NULL AND ${sql.literal(notSpeculative("r."))} AND EXISTS (SELECT 1 FROM capsules c WHERE c.id = r.capsule_id AND ${evidence})
          AND NOT EXISTS (SELECT 1 FROM runs n WHERE n.capsule_id = r.capsule_id
            AND ${sql.literal(notSpeculative("n."))} AND (n.created_at, n.id) > (r.created_at, r.id)))
        OR (r.capsule_id IS NULL AND r.source_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM runs n
          WHERE n.source_id = r.source_id AND (n.created_at, n.id) > (r.created_at, r.id))) THEN 1 ELSE 0 END AS newest,
      CASE WHEN EXISTS (SELECT 1 FROM left_over_states l WHERE l.capsule_id = r.capsule_id AND l.run_id = r.id
        AND l.state IS NOT NULL) THEN 1 ELSE 0 END AS left_over_state
    FROM runs r WHERE r.log_removed_at IS NULL AND r.log_ended_at IS NOT NULL AND r.last_log_seq > 0
      AND r.log_ended_at < ${before} AND (r.log_ended_at, r.id) > (${after?.endedAt ?? ""}, ${after?.id ?? ""})
    ORDER BY r.log_ended_at, r.id LIMIT ${candidatesAtOnce}`
  const mayGo = rows.filter(
    (row) =>
      logKeptReason(
        {
          endedAt: row.log_ended_at,
          isOver: isFinalStatus(row.status),
          isPendingPlan: row.pending_plan === 1,
          madeCurrentState: row.current_state === 1,
          isNewest: row.newest === 1,
          leftState: row.left_over_state === 1
        },
        before
      ) === undefined
  )
  const last = rows.at(-1)
  return {
    ids: mayGo.map(({ id }) => id),
    next:
      rows.length < candidatesAtOnce || last === undefined
        ? undefined
        : { endedAt: last.log_ended_at ?? "", id: last.id }
  } satisfies LogCandidates
})

/** Returns the total log size of these Runs for each Workspace. */
const sizesOf = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, ids: ReadonlyArray<RunId>) {
  if (ids.length === 0) return []
  const rows = yield* Removable.rows(sql)`SELECT r.workspace_id, COUNT(DISTINCT r.id) AS runs, SUM(c.bytes) AS bytes
    FROM runs r LEFT JOIN run_log_chunks c ON c.run_id = r.id
    WHERE ${sql.in("r.id", ids)} GROUP BY r.workspace_id ORDER BY r.workspace_id`
  return rows.map(
    ({ bytes, runs, workspace_id }): RemovableLogs => ({ workspaceId: workspace_id, runs, bytes: bytes ?? 0 })
  )
})

/**
 * Chunks to delete per transaction. A chunk can hold 64 KiB, and SQLite overwrites deleted pages, so more chunks would delay
 * other writers.
 */
const chunksAtOnce = 32
/** Pause between steps, to let other writers in. */
const pause = "5 millis"
/** Maximum number of steps per turn, because the cleanup also has other jobs. */
const stepsOfTurn = 200
/** Delay before kept logs are examined again. */
const cooldown = Duration.toMillis("1 hour")

/** The progress of a pass over all Runs. */
interface Pass {
  after: LookedAt | undefined
  ended: boolean
}

/**
 * Removes logs that are no longer needed and whose retention period has ended (see `LogRetention`). Each step is a short
 * transaction that either marks a batch of Runs, with one audit event per Workspace, or deletes lines of marked Runs. After
 * a crash, the next process continues the work.
 */
export class LogRemoval extends Context.Service<
  LogRemoval,
  {
    /** Returns, for each Workspace, the logs that `removeAll` would remove now. */
    readonly survey: Effect.Effect<ReadonlyArray<RemovableLogs>>
    /** Removes all removable logs and returns, for each Workspace, the removed logs. */
    readonly removeAll: Effect.Effect<ReadonlyArray<RemovableLogs>>
    /** Removes a limited number of logs. Called by the background cleanup. */
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
      const { logs = retention.runLog.after } = yield* RetentionPolicy

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

      /** Deletes lines of marked Runs. Returns `false` if no marked Run has lines left. */
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
       * Performs one step. Deletes lines before marking more Runs, so that at most one batch of Runs is partly removed. Returns
       * `undefined` when nothing is left to do.
       */
      const step = Effect.fnUntraced(function* (
        pass: Pass
      ): Effect.fn.Return<ReadonlyArray<RemovableLogs> | undefined> {
        if ((yield* isErasing) && (yield* erase)) {
          yield* killPoint("log_removal.erased")
          return []
        }
        if (pass.ended) return undefined
        // Reads before it writes: most background turns find nothing, and an empty commit would still delay other writers.
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
