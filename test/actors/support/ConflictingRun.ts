import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { CapsuleId } from "../../../schema/records/Ids.ts"
import { TestPlane } from "../../support/TestPlane.ts"

const id = "run_inthewayinthewayintheway"
const far = "2100-01-01T00:00:00.000Z"

/** Inserts a Run that another process owns. The Run remains active in the Capsule until `removeConflictingRun` is called. */
export const insertConflictingRun = Effect.fnUntraced(function* (capsuleId: CapsuleId, type: "plan" | "apply") {
  const { workspaceId } = yield* TestPlane
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO runs (id, workspace_id, type, status, owner, capsule_id, requires_approval, trigger_kind,
    attempt, spec, evidence, created_at, queued_at, capsule_line) VALUES (${id}, ${workspaceId}, ${type}, 'running', 'inst_test#1',
    ${capsuleId}, 0, 'user', 0, '{}', '{}', ${far}, ${far}, ${capsuleId})`
})

export const removeConflictingRun = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DELETE FROM runs WHERE id = ${id}`
})
