import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { notFound } from "../../../schema/errors/ApiError.ts"
import type { RunGroupId } from "../../../schema/records/Ids.ts"
import { RunQueue } from "../queue/RunQueue.ts"
import { toRun, RunRow } from "../../ledger/run/RunRow.ts"
import { withCommitDescriptions } from "../../ledger/source/CommitDescriptions.ts"
import { groupMembers } from "./GroupMembers.ts"
import { toRunGroup } from "./GroupProjection.ts"
import { RunGroupRow } from "./RunGroupRow.ts"

/** A group with its Runs in their current status. */
export const readGroup = Effect.fn("readGroup")(function* (id: RunGroupId) {
  const sql = yield* SqlClient.SqlClient
  const queue = yield* RunQueue
  const [group] = yield* Effect.orDie(RunGroupRow.rows(sql)`SELECT * FROM run_groups WHERE id = ${id}`)
  if (group === undefined) return yield* notFound("Run group")
  const rows = yield* Effect.orDie(
    RunRow.rows(sql)`SELECT * FROM runs WHERE run_group_id = ${id} ORDER BY created_at, id`
  )
  const places = yield* queue.places(rows)
  const runs = yield* withCommitDescriptions(
    sql,
    rows.map((row) => toRun(row, places.get(row.id)))
  )
  return toRunGroup(group, runs, yield* groupMembers(group))
})
