import { Context, Effect, Layer, Schema } from "effect"
import { type ApiError, notFound } from "../../../schema/errors/ApiError.ts"
import { type CapsuleId, type RunId, StateVersionId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type ResourceDrift, ResourceEvent } from "../../../schema/records/StateResource.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { storedRecord } from "../../base/database/StoredRecord.ts"
import { Flag, type RowOf, rowShape } from "../../base/database/Table.ts"
import { Cursors } from "../../base/paging/Cursors.ts"
import type { Page, PageRequest } from "../../base/paging/RowPages.ts"
import { PlanDetailsJson, present, RunRow } from "../run/RunRow.ts"
import { changedAttributes } from "./StateDifferences.ts"
import { originOf, ResourceVersionRow, StateIndexRow } from "./StateIndexRow.ts"

/** Identifies the resource whose history is read. */
export interface ResourceName {
  readonly address: string
  /** Set for a deposed object, which is waiting to be destroyed. */
  readonly deposed?: string | undefined
}

export interface ResourceEvents extends Page<ResourceEvent> {
  /** The drift of this resource that the newest check of the current state found. Present only on the first page. */
  readonly drift: ResourceDrift | undefined
  /** True if the current state is in the index. */
  readonly indexed: boolean
}

const Current = rowShape({
  current_state_generation: Schema.Int,
  current_state_version_id: Schema.NullOr(StateVersionId),
  committed_at: Schema.NullOr(Timestamp),
  outcome: Schema.NullOr(StateIndexRow.columns.outcome),
  is_unchecked: Flag
})

/** A period in which the resource did not change, and the commit time of the state that ended it. */
const Period = rowShape({
  ...ResourceVersionRow.only("address", "attributes", "tainted", "valid_from", "valid_to", "run_id", "changed_at")
    .columns,
  ended_by_run_id: ResourceVersionRow.columns.ended_by_run_id,
  ended_at: Schema.NullOr(Timestamp)
})
type Period = RowOf<typeof Period.columns>

const { approved_at, approved_by, created_at, created_by, finished_at, id, plan_run_id, purpose, resolved_commit } =
  RunRow.columns
const ChangeRun = rowShape({
  id,
  type: RunRow.columns.type,
  purpose,
  trigger_kind: RunRow.columns.trigger_kind,
  resolved_commit,
  finished_at,
  plan_run_id,
  planned_by: created_by,
  planned_at: Schema.NullOr(created_at),
  approved_by,
  approved_at
})
type ChangeRun = RowOf<typeof ChangeRun.columns>

const decodeEvent = storedRecord(ResourceEvent)

const shownRun = (runId: RunId, runs: ReadonlyMap<RunId, ChangeRun>) => {
  const row = runs.get(runId)
  if (row === undefined) return { id: runId }
  return {
    id: runId,
    type: row.type,
    trigger: row.trigger_kind,
    ...present({
      purpose: row.purpose,
      commit: row.resolved_commit,
      finishedAt: row.finished_at,
      planRunId: row.plan_run_id,
      plannedBy: row.planned_by,
      plannedAt: row.planned_at,
      approvedBy: row.approved_by,
      approvedAt: row.approved_at
    })
  }
}

const changeFrom = (older: Period, period: Period) => {
  const names = changedAttributes(older, period)
  if (older.address === period.address) return { change: "changed", changedAttributes: names }
  const moved = { change: "moved", previousAddress: older.address }
  return names.length === 0 ? moved : { ...moved, changedAttributes: names }
}

/** Returns the changes at the start and end of a period, newest first. */
const eventsOf = (
  period: Period,
  newerFrom: number | undefined,
  older: Period | undefined,
  runs: ReadonlyMap<RunId, ChangeRun>
): ReadonlyArray<ResourceEvent> => {
  const { changed_at, ended_at, ended_by_run_id, run_id, tainted, valid_from, valid_to } = period
  const isRemoved = valid_to !== null && valid_to !== newerFrom && ended_by_run_id !== null
  const removed = isRemoved
    ? [{ change: "removed", generation: valid_to, ...present({ at: ended_at }), run: shownRun(ended_by_run_id, runs) }]
    : []
  const begun = {
    generation: valid_from,
    at: changed_at,
    run: shownRun(run_id, runs),
    ...(tainted === 1 ? { tainted: true } : {})
  }
  const first =
    older?.valid_to === valid_from ? { ...begun, ...changeFrom(older, period) } : { change: "added", ...begun }
  return [...removed, first].map((event) => decodeEvent(event))
}

/** Reads the history of a resource from the state index and the Runs. */
export class ResourceHistory extends Context.Service<
  ResourceHistory,
  {
    /**
     * Returns the changes to a resource, newest first. `limit` is the number of periods without a change, not the number of
     * events.
     */
    readonly history: (
      capsuleId: CapsuleId,
      resource: ResourceName,
      page: PageRequest
    ) => Effect.Effect<ResourceEvents, ApiError>
  }
>()("svc/actors/ledger/state/ResourceHistory") {
  static readonly layer = Layer.effect(
    ResourceHistory,
    Effect.gen(function* () {
      const sql = yield* ReadSql
      const cursors = yield* Cursors

      const runsOf = Effect.fnUntraced(function* (ids: ReadonlyArray<RunId>) {
        if (ids.length === 0) return new Map<RunId, ChangeRun>()
        const rows = yield* ChangeRun.rows(sql)`
          SELECT r.id, r.type, r.purpose, r.trigger_kind, r.resolved_commit, r.finished_at, r.plan_run_id,
            p.created_by AS planned_by, p.created_at AS planned_at, p.approved_by, p.approved_at
          FROM runs r LEFT JOIN runs p ON p.id = r.plan_run_id WHERE ${sql.in("r.id", ids)}`
        return new Map(rows.map((row) => [row.id, row]))
      }, Effect.orDie)

      const driftOf = Effect.fnUntraced(function* (
        capsuleId: CapsuleId,
        { committed_at, current_state_generation }: RowOf<typeof Current.columns>,
        address: string
      ): Effect.fn.Return<ResourceDrift | undefined> {
        if (committed_at === null) return undefined
        // Finds the newest check of the current state. The time limits the search to Runs after the state was committed.
        const [check] = yield* Effect.orDie(RunRow.some(sql, "id", "plan_details", "finished_at")`
          SELECT id, plan_details, finished_at FROM runs
          WHERE capsule_id = ${capsuleId} AND type = 'drift_check' AND status = 'succeeded'
            AND created_at >= ${committed_at} AND base_state_generation = ${current_state_generation}
          ORDER BY created_at DESC, id DESC LIMIT 1`)
        if (check === undefined) return undefined
        const found = PlanDetailsJson.read(check.plan_details).resourceDrift?.find(
          (change) => change.address === address && change.deposed === undefined
        )
        if (found === undefined) return undefined
        const changed = found.changedAttributes.map(({ name }) => name)
        return {
          runId: check.id,
          ...present({ at: check.finished_at }),
          actions: found.actions,
          changedAttributes: changed
        }
      })

      const history = Effect.fn("ResourceHistory.history")(function* (
        capsuleId: CapsuleId,
        { address, deposed = "" }: ResourceName,
        page: PageRequest
      ) {
        const filter = [capsuleId, address, deposed]
        const binding = { route: "capsules.resourceHistory", subject: page.subject ?? "", filter }
        const anchor = page.cursor === undefined ? undefined : yield* cursors.decode(binding, page.cursor, 1)
        const [current] = yield* Effect.orDie(Current.rows(
          sql
        )`SELECT c.current_state_generation, c.current_state_version_id,
            s.created_at AS committed_at, i.outcome,
            EXISTS (SELECT 1 FROM state_indexes u WHERE u.capsule_id = c.id AND u.outcome = 'unchecked') AS is_unchecked
          FROM capsules c LEFT JOIN state_versions s ON s.id = c.current_state_version_id
          LEFT JOIN state_indexes i ON i.state_version_id = c.current_state_version_id
          WHERE c.id = ${capsuleId}`)
        if (current === undefined) return yield* notFound("Capsule")
        if (current.is_unchecked === 1) return { items: [], drift: undefined, indexed: false }
        const after = anchor === undefined ? undefined : Number(anchor[0])
        const older = after === undefined ? sql.literal("") : sql` AND v.valid_from < ${after}`
        // Finds the current or last object at this address. Its history includes earlier addresses.
        const [last] = yield* Effect.orDie(ResourceVersionRow.some(sql, "address", "origin")`
          SELECT address, origin FROM resource_versions
          WHERE capsule_id = ${capsuleId} AND address = ${address} AND deposed = ${deposed}
          ORDER BY valid_from DESC LIMIT 1`)
        const origin = last === undefined ? address : originOf(last)
        // Reads one more row than requested, because a change is the difference from the preceding period.
        const rows = yield* Effect.orDie(
          Period.rows(sql)`SELECT v.address, v.attributes, v.tainted, v.valid_from, v.valid_to, v.run_id, v.changed_at,
            v.ended_by_run_id, s.created_at AS ended_at
          FROM resource_versions v
          LEFT JOIN state_versions s ON s.capsule_id = v.capsule_id AND s.generation = v.valid_to
          WHERE v.capsule_id = ${capsuleId} AND v.deposed = ${deposed}
            AND (v.address = ${origin} AND v.origin IS NULL OR v.origin = ${origin})${older}
          ORDER BY v.valid_from DESC LIMIT ${page.limit + 1}`
        )
        const shown = rows.slice(0, page.limit)
        const named = shown.flatMap((row) =>
          row.ended_by_run_id === null ? [row.run_id] : [row.run_id, row.ended_by_run_id]
        )
        const runs = yield* runsOf([...new Set(named)])
        const items = shown.flatMap((row, index) =>
          eventsOf(row, index === 0 ? after : rows[index - 1]?.valid_from, rows[index + 1], runs)
        )
        const asksDrift = after === undefined && deposed === ""
        const drift = asksDrift ? yield* driftOf(capsuleId, current, address) : undefined
        const answer = {
          items,
          drift,
          indexed: current.current_state_version_id === null || current.outcome === "indexed"
        }
        const oldest = shown.at(-1)
        if (rows.length <= page.limit || oldest === undefined) return answer
        return { ...answer, nextCursor: yield* cursors.encode(binding, [String(oldest.valid_from)]) }
      })

      return ResourceHistory.of({ history })
    })
  )
}
