import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { RunId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { RunStatus } from "../../../schema/records/Run.ts"
import { type RowOf, rowShape } from "../../base/database/Table.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { makeRepositoryReads } from "../../inputs/git/RepositoryReads.ts"
import type { PullRequestRow } from "../../ledger/pull-request/PullRequestRow.ts"
import { PullRequestStore } from "../../ledger/pull-request/PullRequestStore.ts"
import { recordDifference } from "../../ledger/run/ChangeBases.ts"
import { RunRow } from "../../ledger/run/RunRow.ts"
import type { SourceRow } from "../../ledger/source/SourceRow.ts"
import { CarryOver } from "../../running/carry-over/CarryOver.ts"

const LanePlan = rowShape({
  id: RunId,
  status: RunStatus,
  resolved_commit: RunRow.columns.resolved_commit,
  created_at: Timestamp
})

/**
 * Connects a merged pull request with the plans of the lane that svc computed before it saw the merge, because a sync of the lane
 * may be faster than the look at the pull requests.
 */
export class MergedPlans extends Context.Service<
  MergedPlans,
  {
    /** Call it outside a transaction. Repeating it changes nothing. */
    readonly connect: (row: PullRequestRow, source: SourceRow) => Effect.Effect<void>
  }
>()("svc/actors/commands/pull-request/MergedPlans") {
  static readonly layer = Layer.effect(
    MergedPlans,
    Effect.suspend(() => make)
  ).pipe(Layer.provide(CarryOver.layer))
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const store = yield* PullRequestStore
  const carryOver = yield* CarryOver
  const reads = yield* makeRepositoryReads

  /** The newest plan of the lane before the recorded time of the merge, for each Capsule that the head affects. */
  const earlierPlans = (row: PullRequestRow) =>
    Effect.orDie(LanePlan.rows(sql)`SELECT l.id, l.status, l.resolved_commit, l.created_at FROM pull_request_capsules j
      JOIN runs l ON l.id = (SELECT n.id FROM runs n WHERE n.capsule_id = j.capsule_id AND n.type = 'plan'
        AND n.purpose IS NULL AND n.coordinator_kind IS NULL AND n.created_at < ${row.closed_at}
        ORDER BY n.created_at DESC, n.id DESC LIMIT 1)
      WHERE j.pull_request_id = ${row.id} AND j.head_commit = ${row.head_commit} AND j.touched = 1
        AND l.created_at >= ${row.created_at} ORDER BY l.created_at, l.id`)

  const connect = Effect.fn("MergedPlans.connect")(
    function* (row: PullRequestRow, source: SourceRow) {
      if (row.state !== "merged" || row.merge_group !== null || row.closed_at === null) return
      const merges = new Set([row.head_commit, ...(row.merge_commit === null ? [] : [row.merge_commit])])
      const contains = (commit: string) =>
        merges.has(commit)
          ? Effect.succeed(true)
          : Effect.map(
              Effect.orElseSucceed(reads.ancestors(source, commit), () => [commit]),
              (history) => history.some((one) => merges.has(one))
            )
      const plans: Array<RowOf<typeof LanePlan.columns>> = []
      for (const plan of yield* earlierPlans(row)) {
        if (plan.resolved_commit !== null && (yield* contains(plan.resolved_commit))) plans.push(plan)
      }
      const [first] = plans
      if (first === undefined) return
      const differing = yield* Effect.forEach(
        plans.filter(({ status }) => status === "waiting_approval"),
        ({ id }) => Effect.map(carryOver.ofMerged(id, row.id), (differsFrom) => ({ id, differsFrom }))
      )
      yield* transaction(sql)(
        Effect.gen(function* () {
          // The plan proves that the pull request was merged earlier. Reports find the lane's plans by this time.
          yield* store.update(row.id, { closed_at: first.created_at })
          for (const { differsFrom, id } of differing) {
            if (differsFrom !== undefined) yield* recordDifference(id, differsFrom)
          }
        })
      )
    },
    Effect.provideService(SqlClient.SqlClient, sql)
  )

  return MergedPlans.of({ connect })
})
