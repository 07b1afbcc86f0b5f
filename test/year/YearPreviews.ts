import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { awaitRun } from "../../actors/ledger/run/RunJournal.ts"
import { Runs } from "../../actors/ledger/run/Runs.ts"
import type { CapsuleId } from "../../schema/records/Ids.ts"
import { installed, preflightOf, type YearWorkspace } from "./YearWorld.ts"
import { CapsuleCommands } from "../../schema/commands/CapsuleCommands.ts"
import { RunCommands } from "../../schema/commands/RunCommands.ts"

const dayMillis = 86_400_000
/** The service removes an old state first, then its Run, then the snapshot, each in a separate turn. */
const turnDays = 4

const nameOf = (day: number) => `preview-${day}`

const previewOf = Effect.fnUntraced(function* ({ id }: YearWorkspace, day: number) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ id: CapsuleId }>`SELECT id FROM capsules WHERE workspace_id = ${id}
    AND name = ${nameOf(day)} AND status <> 'destroyed'`
  return row?.id
})

/** Installs an environment for one change from the current commit, and destroys the environment for the previous change. */
export const preview = Effect.fn("preview")(function* (workspace: YearWorkspace, day: number, previous: number) {
  const { owner, sources } = workspace
  const [source] = sources
  if (source === undefined) return
  const preflight = yield* preflightOf(owner.context, source.id)
  yield* installed(workspace.id, owner, { named: source.named, preflight }, nameOf(day))
  const old = yield* previewOf(workspace, previous)
  if (old === undefined) return
  const runs = yield* Runs
  const runCommands = yield* RunCommands
  const { value: plan } = yield* (yield* CapsuleCommands).DestroyPlan(old, { context: owner.context })
  yield* awaitRun(plan.id)
  yield* runCommands.Approve(plan.id, { context: owner.context })
  yield* awaitRun((yield* runs.apply(owner.context, plan.id, undefined)).value.id)
  if ((yield* previewOf(workspace, previous)) !== undefined) {
    return yield* Effect.die(new Error(`${nameOf(previous)} was not destroyed`))
  }
})

/** Returns the data of destroyed Capsules that still exists after twice the retention period. */
export const previewFaults = Effect.fn("previewFaults")(function* (now: number, keep: number) {
  const sql = yield* SqlClient.SqlClient
  const before = new Date(now - (2 * keep + turnDays) * dayMillis).toISOString()
  const faults: Array<string> = []
  for (const table of ["runs", "state_versions", "outputs"]) {
    const [left] = yield* sql<{ n: number }>`SELECT COUNT(*) AS n FROM ${sql(table)} r
      JOIN capsules c ON c.id = r.capsule_id WHERE c.status = 'destroyed' AND c.updated_at < ${before}`
    if (left !== undefined && left.n > 0) faults.push(`${left.n} ${table} of Capsules that were destroyed long ago`)
  }
  return faults
})
