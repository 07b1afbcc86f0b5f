import { Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import type { AskedRun, QueuedRun, QueueLimits, RunningRun } from "./QueueDecision.ts"
import { Flag, type RowOf, rowShape, table } from "../../base/database/Table.ts"
import { RunRow } from "../../ledger/run/RunRow.ts"
import { WorkspaceId } from "../../../schema/records/Ids.ts"
import { comesLast, speculative } from "../../../schema/tables/RunTables.ts"
import { placesOfPool } from "../../ledger/run/RunLedger.ts"

/**
 * For each Workspace and for each subject in it, the turn in which it last started a Run. The empty subject represents svc
 * itself.
 */
export const RunTurnRow = table(
  "run_turns",
  { turn: Schema.Int, slot_pool: Schema.String, workspace_id: WorkspaceId, subject: Schema.String },
  ["turn"]
)

const QueuedRow = rowShape({
  ...Struct.pick(RunRow.columns, ["id", "workspace_id", "slot_pool", "capsule_line", "queued_at"]),
  subject: Schema.String,
  comes_last: Flag,
  workspace_turn: Schema.Int,
  subject_turn: Schema.Int
})
type QueuedRow = RowOf<typeof QueuedRow.columns>

const RunningRow = rowShape({
  ...Struct.pick(RunRow.columns, ["id", "workspace_id", "slot_pool", "capsule_line", "owner", "started_at"]),
  is_scheduled_check: Flag,
  is_head_plan: Flag,
  is_stopping: Flag
})

const WaitingForAgentsRow = RunRow.only("id", "pool", "type", "workspace_id")
type WaitingForAgents = RowOf<typeof WaitingForAgentsRow.columns>

const AskedRow = rowShape({ workspaceId: RunRow.columns.workspace_id, pool: RunRow.columns.slot_pool })
const CountRow = rowShape({ count: Schema.Int })

const toQueued = (row: QueuedRow): QueuedRun => ({
  id: row.id,
  workspaceId: row.workspace_id,
  pool: row.slot_pool,
  subject: row.subject,
  capsuleLine: row.capsule_line ?? undefined,
  comesLast: row.comes_last === 1,
  queuedAt: row.queued_at,
  workspaceTurn: row.workspace_turn,
  subjectTurn: row.subject_turn
})

/** Maximum number of a Workspace's waiting Runs that are compared with the facts of agents. */
const mostAsked = 10

/** Maximum number of a person's Runs that an agent may skip because it does not meet their requirements. */
const mostOfPerson = 50

/**
 * The limits, and the kinds of Runs that may start on the control plane. If several servers share the database, excludes all
 * Runs of modules. After a restore, excludes applies while agents may be executing applies that the restored database does
 * not contain.
 */
export interface QueueWindow {
  readonly limits: QueueLimits
  readonly starts: "everything" | "no_applies" | "no_modules"
}

const notHeld = ({ starts }: Pick<QueueWindow, "starts">): string => {
  if (starts === "everything") return ""
  const applies = "'apply', 'destroy_apply'"
  return ` AND type NOT IN (${starts === "no_applies" ? applies : `${applies}, 'plan', 'destroy_plan', 'drift_check'`})`
}

/**
 * Selects the first claimable Run of each person in the Workspaces whose turn is next, for each pool and separately for Runs
 * that come last. Each recursion step is one index lookup, which finds the next Workspace with a claimable Run, or the next
 * person in the Workspace.
 */
export const nearestInTurn = (sql: SqlClient.SqlClient, window: QueueWindow) => {
  const { limits } = window
  // These expressions must match the indexes `runs_claimable` and `runs_claimable_of_subject` verbatim.
  const comes_last = sql.literal(comesLast())
  const subject = sql.literal("COALESCE(created_by, '')")
  const claimable = sql.literal(`status = 'queued' AND capsule_wait = 0${notHeld(window)}`)
  return sql`
    WITH RECURSIVE line (slot_pool, comes_last, workspaces) AS (
      VALUES ('runs', 0, ${limits.runs.places + 1}), ('runs', 1, ${limits.runs.places + 1}),
        ('builds', 0, ${limits.builds.places + 1}),
        ('builds', 1, ${limits.builds.places + 1})
    ), waiting (slot_pool, comes_last, workspaces, workspace_id) AS (
      SELECT l.slot_pool, l.comes_last, l.workspaces, (SELECT workspace_id FROM runs
        WHERE ${claimable} AND slot_pool = l.slot_pool AND ${comes_last} = (l.comes_last = 1) ORDER BY workspace_id LIMIT 1) FROM line l
      UNION ALL
      SELECT w.slot_pool, w.comes_last, w.workspaces, (SELECT workspace_id FROM runs
        WHERE ${claimable} AND slot_pool = w.slot_pool AND ${comes_last} = (w.comes_last = 1) AND workspace_id > w.workspace_id
        ORDER BY workspace_id LIMIT 1)
      FROM waiting w WHERE w.workspace_id IS NOT NULL
    ), turns AS (
      SELECT w.*, COALESCE((SELECT MAX(turn) FROM run_turns
        WHERE slot_pool = w.slot_pool AND workspace_id = w.workspace_id), 0) AS turn, (SELECT id FROM runs
        WHERE ${claimable} AND slot_pool = w.slot_pool AND ${comes_last} = (w.comes_last = 1) AND workspace_id = w.workspace_id
        ORDER BY queued_at, id LIMIT 1) AS first_id
      FROM waiting w WHERE w.workspace_id IS NOT NULL
    ), nearest AS (
      SELECT * FROM (SELECT t.*, ROW_NUMBER() OVER (PARTITION BY t.slot_pool, t.comes_last
        ORDER BY t.turn, r.queued_at, r.id) AS place FROM turns t JOIN runs r ON r.id = t.first_id) AS placed
      WHERE place <= workspaces
    ), people (slot_pool, comes_last, workspace_id, turn, subject) AS (
      SELECT n.slot_pool, n.comes_last, n.workspace_id, n.turn, (SELECT ${subject} FROM runs
        WHERE ${claimable} AND slot_pool = n.slot_pool AND ${comes_last} = (n.comes_last = 1) AND workspace_id = n.workspace_id
        ORDER BY ${subject} LIMIT 1)
      FROM nearest n
      UNION ALL
      SELECT p.slot_pool, p.comes_last, p.workspace_id, p.turn, (SELECT ${subject} FROM runs
        WHERE ${claimable} AND slot_pool = p.slot_pool AND ${comes_last} = (p.comes_last = 1) AND workspace_id = p.workspace_id
          AND ${subject} > p.subject ORDER BY ${subject} LIMIT 1)
      FROM people p WHERE p.subject IS NOT NULL
    )
    SELECT r.id, r.workspace_id, r.slot_pool, p.subject, r.capsule_line, p.comes_last, r.queued_at,
      p.turn AS workspace_turn, COALESCE((SELECT t.turn FROM run_turns t WHERE t.slot_pool = p.slot_pool
        AND t.workspace_id = p.workspace_id AND t.subject = p.subject), 0) AS subject_turn
    FROM people p JOIN runs r ON r.id = (SELECT id FROM runs
      WHERE ${claimable} AND slot_pool = p.slot_pool AND ${comes_last} = (p.comes_last = 1) AND workspace_id = p.workspace_id
        AND ${subject} = p.subject ORDER BY queued_at, id LIMIT 1)
    WHERE p.subject IS NOT NULL`
}

/**
 * Reads the queue for `decide`. The cost of a read depends on the number of slots, on the number of people or on one
 * Workspace, but never on the length of the queue.
 */
export class QueueRows extends Context.Service<
  QueueRows,
  {
    readonly running: Effect.Effect<ReadonlyArray<RunningRun>>
    /**
     * Returns the first claimable Run of each person in the Workspaces whose turn is next, for each pool and separately for
     * Runs that come last. Reads one more Workspace than there are slots. This is enough to include the next Run, because
     * only a Workspace that is executing a Run can be at its limit.
     */
    readonly candidates: (window: QueueWindow) => Effect.Effect<ReadonlyArray<QueuedRun>>
    /**
     * Returns true if a Run may be claimed by this pool of agents, or by any pool if none is given. Needs no transaction.
     */
    readonly isAnyClaimable: (pool?: string) => Effect.Effect<boolean>
    /**
     * Returns the first few claimable Runs of each person in the Workspaces of a pool of agents. Returns several Runs per
     * person, because the agent may not meet the requirements of the first Run.
     */
    readonly candidatesOf: (pool: string) => Effect.Effect<ReadonlyArray<QueuedRun>>
    /** Returns the pools and Workspaces in which Runs that people requested are waiting. */
    readonly asked: (window: QueueWindow) => Effect.Effect<ReadonlyArray<AskedRun>>
    /**
     * Returns the first few Runs of each Workspace that people requested and that are waiting for agents of a pool assigned
     * to the Workspace.
     */
    readonly waitingForAgents: Effect.Effect<ReadonlyArray<WaitingForAgents>>
    /** Returns a Workspace's queued Runs, in order of arrival. */
    readonly queuedOf: (workspaceId: WorkspaceId, most: number) => Effect.Effect<ReadonlyArray<QueuedRun>>
    /** Counts a Workspace's queued Runs, up to `most`. */
    readonly countOf: (workspaceId: WorkspaceId, most: number) => Effect.Effect<number>
    /**
     * Records that a Workspace and the person who requested the Run have taken their turns. Runs in the caller's
     * transaction.
     */
    readonly turnTaken: (run: QueuedRun) => Effect.Effect<void>
  }
>()("svc/actors/running/queue/QueueRows") {
  static readonly layer = Layer.effect(
    QueueRows,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const last = sql.literal(comesLast())
      const headPlan = sql.literal(`coordinator_kind = 'pull_request' AND ${speculative()}`)

      const running = Effect.map(
        Effect.orDie(RunningRow.rows(sql)`SELECT id, workspace_id, slot_pool, capsule_line, owner, started_at,
            CASE WHEN type = 'drift_check' AND trigger_kind = 'schedule' THEN 1 ELSE 0 END AS is_scheduled_check,
            CASE WHEN ${headPlan} AND trigger_kind <> 'user' THEN 1 ELSE 0 END AS is_head_plan,
            CASE WHEN cancel_requested_at IS NULL THEN 0 ELSE 1 END AS is_stopping
          FROM runs WHERE status = 'running'`),
        (rows) =>
          rows.map((row) => ({
            id: row.id,
            workspaceId: row.workspace_id,
            pool: row.slot_pool,
            capsuleLine: row.capsule_line ?? undefined,
            startedAt: row.started_at ?? "",
            owner: row.owner ?? undefined,
            ...(row.is_scheduled_check === 1 ? { scheduledCheck: { isStopping: row.is_stopping === 1 } } : {}),
            ...(row.is_head_plan === 1 ? { headPlan: { isStopping: row.is_stopping === 1 } } : {})
          }))
      )

      const candidates = (window: QueueWindow) =>
        Effect.map(Effect.orDie(QueuedRow.rows(sql)`${nearestInTurn(sql, window)}`), (rows) => rows.map(toQueued))

      const isAnyClaimable = (pool?: string) =>
        Effect.orDie(
          Effect.map(
            sql`SELECT 1 AS one FROM runs WHERE status = 'queued' AND capsule_wait = 0
              AND ${pool === undefined ? sql`1 = 1` : sql`slot_pool = ${placesOfPool(pool)}`} LIMIT 1`,
            ({ length }) => length > 0
          )
        )

      const candidatesOf = Effect.fnUntraced(function* (pool: string) {
        const places = placesOfPool(pool)
        const rows = yield* QueuedRow.rows(sql)`
          SELECT r.id, r.workspace_id, r.slot_pool, r.subject, r.capsule_line, r.comes_last, r.queued_at,
            COALESCE((SELECT MAX(turn) FROM run_turns t
              WHERE t.slot_pool = r.slot_pool AND t.workspace_id = r.workspace_id), 0) AS workspace_turn,
            COALESCE((SELECT turn FROM run_turns t WHERE t.slot_pool = r.slot_pool AND t.workspace_id = r.workspace_id
              AND t.subject = r.subject), 0) AS subject_turn
          FROM (SELECT *, COALESCE(created_by, '') AS subject, ${last} AS comes_last, ROW_NUMBER() OVER (
              PARTITION BY workspace_id, COALESCE(created_by, ''), ${last} ORDER BY queued_at, id) AS place
            FROM runs WHERE status = 'queued' AND capsule_wait = 0 AND slot_pool = ${places}) r
          WHERE r.place <= ${mostOfPerson} AND EXISTS (SELECT 1 FROM agent_pool_workspaces w
            WHERE w.pool = ${pool} AND w.workspace_id = r.workspace_id)`
        return rows.map(toQueued)
      }, Effect.orDie)

      const asked = (window: QueueWindow) =>
        Effect.orDie(AskedRow.rows(sql)`SELECT DISTINCT workspace_id AS "workspaceId", slot_pool AS pool FROM runs
        WHERE status = 'queued' AND capsule_wait = 0 AND NOT ${last} AND trigger_kind = 'user'${sql.literal(notHeld(window))}
        ORDER BY workspace_id`)

      const waitingForAgents = Effect.orDie(WaitingForAgentsRow.rows(sql)`SELECT id, pool, type, workspace_id
        FROM (SELECT r.*, ROW_NUMBER() OVER (PARTITION BY r.workspace_id, r.pool ORDER BY r.queued_at, r.id) AS place
          FROM runs r JOIN agent_pool_workspaces w ON w.pool = r.pool AND w.workspace_id = r.workspace_id
          WHERE r.status = 'queued' AND r.capsule_wait = 0 AND NOT ${sql.literal(comesLast("r."))} AND r.trigger_kind = 'user') AS waiting
        WHERE place <= ${mostAsked} ORDER BY queued_at, id`)

      const queuedOf = Effect.fnUntraced(function* (workspaceId: WorkspaceId, most: number) {
        const rows = yield* QueuedRow.rows(sql)`
          SELECT r.id, r.workspace_id, r.slot_pool, COALESCE(r.created_by, '') AS subject, r.capsule_line,
            ${sql.literal(comesLast("r."))} AS comes_last, r.queued_at, 0 AS workspace_turn, COALESCE(t.turn, 0) AS subject_turn
          FROM (SELECT * FROM runs WHERE status = 'queued' AND workspace_id = ${workspaceId}
            ORDER BY queued_at, id LIMIT ${most}) r
          LEFT JOIN run_turns t ON t.slot_pool = r.slot_pool AND t.workspace_id = r.workspace_id
            AND t.subject = COALESCE(r.created_by, '')`
        return rows.map(toQueued)
      }, Effect.orDie)

      const countOf = Effect.fnUntraced(function* (workspaceId: WorkspaceId, most: number) {
        const rows = yield* CountRow.rows(sql)`SELECT COUNT(*) AS count FROM (
          SELECT 1 FROM runs WHERE status = 'queued' AND workspace_id = ${workspaceId} LIMIT ${most}) AS queued`
        return rows[0]?.count ?? 0
      }, Effect.orDie)

      const turnTaken = Effect.fnUntraced(function* (run: QueuedRun) {
        // Deletes the row before inserting it again, because only a newly inserted row becomes the latest turn.
        yield* sql`DELETE FROM run_turns WHERE slot_pool = ${run.pool} AND workspace_id = ${run.workspaceId}
          AND subject = ${run.subject}`
        yield* sql`INSERT INTO run_turns ${RunTurnRow.values(sql, {
          slot_pool: run.pool,
          workspace_id: run.workspaceId,
          subject: run.subject
        })}`
      }, Effect.orDie)

      return QueueRows.of({
        running,
        candidates,
        isAnyClaimable,
        candidatesOf,
        asked,
        waitingForAgents,
        queuedOf,
        countOf,
        turnTaken
      })
    })
  )
}
