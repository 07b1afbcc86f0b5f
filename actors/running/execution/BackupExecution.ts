import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { transaction } from "../../base/database/Transaction.ts"
import type { RunExecution } from "./RunExecution.ts"
import { holdOf } from "../../ledger/run/RunHold.ts"
import { RunLifecycle } from "../../ledger/run/RunLifecycle.ts"
import { BackupStore } from "../../ledger/state/BackupStore.ts"

/** Exports the records of a Capsule or Workspace. */
export const makeBackupExecution = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const backups = yield* BackupStore
  const lifecycle = yield* RunLifecycle

  const execution: RunExecution = Effect.fn("Run.backup")(function* (run, control) {
    yield* control.sink.event("run.phase", { phase: "state" })
    yield* transaction(sql)(
      Effect.gen(function* () {
        const backup = yield* backups.create({ id: run.id, workspaceId: run.workspace_id, capsuleId: run.capsule_id })
        yield* lifecycle.succeed(holdOf(run), { backupId: backup.id, sizeBytes: backup.size_bytes })
      })
    )
  })
  return execution
})
