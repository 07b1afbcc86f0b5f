import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { ApiError, failedPrecondition, invalidRequest, notFound } from "../../../schema/errors/ApiError.ts"
import { CapsuleCommands } from "../../../schema/commands/CapsuleCommands.ts"
import { RunCommands } from "../../../schema/commands/RunCommands.ts"
import { groundWords, uncertainGround } from "../../access/approval/UncertainGround.ts"
import { RunAgents } from "../../running/agent/RunAgents.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { Cursors } from "../../base/paging/Cursors.ts"
import { pageOfRows, type PageRequest, type RowList } from "../../base/paging/RowPages.ts"
import { RunGroupRow } from "../../running/run-group/RunGroupRow.ts"
import { readGroup } from "../../running/run-group/GroupProjection.ts"
import { RunGroups } from "../../running/run-group/RunGroups.ts"
import { RunQueue } from "../../running/queue/RunQueue.ts"
import { fitsChanges, foldedRuns, standsForChange } from "../../ledger/run/RunChanges.ts"
import { countRuns } from "../../ledger/run/RunCounts.ts"
import { filterKey, matching } from "../../ledger/run/RunFilter.ts"
import { LatestRunRow, ListedRunRow, RunRow, toLatestRun, toListedRun, toRun } from "../../ledger/run/RunRow.ts"
import { Runs } from "../../ledger/run/Runs.ts"
import { withCommitDescriptions } from "../../ledger/source/CommitDescriptions.ts"
import { ChangeCauseReads } from "../../ledger/staleness/ChangeCauseReads.ts"
import { SourceChangeReads } from "../../ledger/staleness/SourceChangeReads.ts"
import { StateVersionRow } from "../../ledger/state/StateVersionRow.ts"
import { notSpeculative } from "../../../schema/tables/RunTables.ts"
import type { RunGroupId, RunId } from "../../../schema/records/Ids.ts"

/** Maximum number of plans to list, which is more than a person reads at once. */
const mostUnfinished = 50

export const layer = Layer.effect(
  Runs,
  Effect.gen(function* () {
    const runCommand = yield* RunCommands
    const capsuleCommand = yield* CapsuleCommands
    const sql = yield* ReadSql
    const queue = yield* RunQueue
    const agents = yield* RunAgents
    const groups = yield* RunGroups
    const cursors = yield* Cursors
    const sourceChanges = yield* SourceChangeReads
    const changeCauses = yield* ChangeCauseReads

    const projectedAll = Effect.fnUntraced(function* (rows: ReadonlyArray<ListedRunRow>) {
      const places = yield* queue.places(rows)
      return yield* withCommitDescriptions(
        sql,
        rows.map((row) => toListedRun(row, places.get(row.id)))
      )
    })
    const projected = Effect.fnUntraced(function* (row: RunRow) {
      const agent = yield* agents.of(row)
      const run = { ...toRun(row, yield* queue.place(row)), ...(agent === undefined ? {} : { agent }) }
      const [described] = yield* withCommitDescriptions(sql, [run])
      return described ?? run
    })

    const listed = Effect.fnUntraced(function* (page: PageRequest, list: RowList) {
      const rows = yield* pageOfRows(ListedRunRow, sql, cursors, list, page)
      return { ...rows, items: yield* projectedAll(rows.items) }
    })

    const row = Effect.fnUntraced(function* (id: RunId) {
      const rows = yield* Effect.orDie(RunRow.rows(sql)`SELECT * FROM runs WHERE id = ${id}`)
      return rows[0] === undefined ? yield* notFound("Run") : rows[0]
    })

    const group = (id: RunGroupId) =>
      readGroup(id).pipe(Effect.provideService(SqlClient.SqlClient, sql), Effect.provideService(RunQueue, queue))

    return Runs.of({
      apply: Effect.fn("Runs.apply")(function* (context, planRunId, idempotency) {
        const plan = yield* row(planRunId)
        if (plan.capsule_id === null) return yield* notFound("Plan")
        return yield* capsuleCommand.Apply(plan.capsule_id, {
          context,
          planRunId,
          ...(idempotency === undefined ? {} : { idempotency })
        })
      }),
      read: Effect.fn("Runs.read")(function* (id) {
        return yield* projected(yield* row(id))
      }),
      changeCauses: (id) => changeCauses.read(id),
      sourceChanges: (id) => sourceChanges.read(id),
      list: (workspaceId, filter, page) =>
        listed(page, {
          route: "runs.list",
          newestFirst: true,
          conditions: matching(sql, workspaceId, filter),
          filter: [workspaceId, ...filterKey(filter)]
        }).pipe(Effect.withSpan("Runs.list")),
      changes: Effect.fn("Runs.changes")(function* (workspaceId, filter, page) {
        if (!fitsChanges(filter)) {
          return yield* invalidRequest(
            "`view=changes` lists whole changes, of which a Run may fit and another not. Leave out `search`, `actor`, `type`, `status`, `trigger` and `includeLooks`, or list Runs."
          )
        }
        const changes = yield* listed(page, {
          route: "runs.changes",
          newestFirst: true,
          conditions: [...matching(sql, workspaceId, filter), sql.literal(standsForChange)],
          filter: [workspaceId, ...filterKey(filter)]
        })
        const ids = changes.items.map(({ id }) => id)
        return { ...changes, folded: yield* foldedRuns(sql, ids) }
      }),
      facets: (workspaceId, filter) => countRuns(sql, workspaceId, filter),
      latest: Effect.fn("Runs.latest")(function* (workspaceId, capsuleIds) {
        // Uses one index lookup per Capsule, regardless of the number of Runs, and reads no evidence.
        const rows = yield* Effect.orDie(LatestRunRow.rows(
          sql
        )`SELECT r.id, r.capsule_id, r.type, r.status, r.approved_at,
            r.created_at, r.finished_at
          FROM json_each(${JSON.stringify(capsuleIds)}) AS wanted JOIN runs r ON r.id = (
            SELECT id FROM runs WHERE capsule_id = wanted.value AND ${sql.literal(notSpeculative())} ORDER BY created_at DESC, id DESC LIMIT 1)
          WHERE r.workspace_id = ${workspaceId}`)
        return rows.map(toLatestRun)
      }),
      unfinished: Effect.fn("Runs.unfinished")(function* (workspaceId) {
        const plans = yield* LatestRunRow.rows(
          sql
        )`SELECT id, capsule_id, type, status, approved_at, created_at, finished_at
          FROM runs WHERE workspace_id = ${workspaceId} AND type IN ('plan', 'destroy_plan', 'restore') AND status = 'succeeded'
            AND approved_at IS NOT NULL AND used_by_run_id IS NULL ORDER BY approved_at, id LIMIT ${mostUnfinished}`
        const groups = yield* RunGroupRow.some(sql, "id", "created_at")`SELECT id, created_at FROM run_groups
          WHERE workspace_id = ${workspaceId} AND type = 'update' AND finished_at IS NULL AND cancelled_at IS NULL
          ORDER BY created_at, id LIMIT ${mostUnfinished}`
        return {
          approvedPlans: plans.map(toLatestRun),
          updates: groups.map(({ created_at, id }) => ({ id, createdAt: created_at }))
        }
      }, Effect.orDie),
      group,
      approveGroup: Effect.fn("Runs.approveGroup")(function* (context, id, { comment, planDigests }) {
        const { runs } = yield* group(id)
        const plans = runs.filter(({ type }) => type === "plan" || type === "destroy_plan")
        // Fails while a plan is unfinished: a plan that finishes between the review and the approval would be approved
        // although nobody has seen it.
        const unmade = plans.find(({ status }) => status === "queued" || status === "running")
        if (unmade !== undefined) {
          return yield* new ApiError({
            code: "run_conflict",
            message: `The plan ${unmade.id} of the group is ${unmade.status}. Wait for it, review it, and approve again.`
          })
        }
        const waiting = plans.filter(({ status }) => status === "waiting_approval")
        const unseen = waiting.find(({ planDigest }) => planDigests?.includes(planDigest ?? "") === false)
        if (unseen !== undefined) {
          return yield* new ApiError({
            code: "guard_conflict",
            message: `planDigests does not hold the digest of ${unseen.id}: that plan was not reviewed. Nothing was approved.`
          })
        }
        for (const run of waiting) {
          const ground =
            run.capsuleId === undefined
              ? []
              : yield* uncertainGround(run.capsuleId).pipe(Effect.provideService(SqlClient.SqlClient, sql))
          if (ground.length > 0) {
            return yield* failedPrecondition(
              `The plan ${run.id} of the group must be approved separately: ${groundWords(ground)} Nothing was approved.`
            )
          }
        }
        for (const run of waiting) {
          // Binds each approval to the digest that this read of the group returned.
          yield* runCommand.Approve(run.id, {
            context,
            ...(run.planDigest === undefined ? {} : { planDigest: run.planDigest }),
            ...(comment === undefined ? {} : { comment })
          })
        }
        return yield* group(id)
      }),
      cancelGroup: Effect.fn("Runs.cancelGroup")(function* (context, id, reason) {
        yield* groups.cancel(context, id, reason)
        return yield* group(id)
      }),
      rollbackPlan: Effect.fn("Runs.rollbackPlan")(function* (context, id, request = {}) {
        const rows = yield* Effect.orDie(
          StateVersionRow.some(sql, "capsule_id")`SELECT capsule_id FROM state_versions WHERE id = ${id}`
        )
        if (rows[0] === undefined) return yield* notFound("StateVersion")
        return yield* capsuleCommand.RollbackPlan(rows[0].capsule_id, { context, stateVersionId: id, request })
      })
    })
  })
)
