import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { CapsuleId, RunId } from "../../../schema/records/Ids.ts"
import { demoConnection } from "../../support/Journey.ts"
import { demo, TestPlane } from "../../support/TestPlane.ts"
import { ruled } from "./ApprovalSteps.ts"
import { ConnectionCommands } from "../../../schema/commands/ConnectionCommands.ts"
import { RunCommands } from "../../../schema/commands/RunCommands.ts"

export interface Applying {
  readonly capsuleId: CapsuleId
  readonly runId: RunId
}

export const cancelled = Effect.fnUntraced(function* ({ runId }: Pick<Applying, "runId">) {
  yield* (yield* RunCommands).Cancel(runId, { context: (yield* TestPlane).context, reason: "Not this one." })
})

const changed = (
  table: "capsules" | "plan" | "workspaces",
  columns: Readonly<Record<string, string | number | null>>
) =>
  Effect.fnUntraced(function* ({ capsuleId, runId }: Applying) {
    const sql = yield* SqlClient.SqlClient
    const set = sql.update(columns)
    switch (table) {
      case "capsules":
        return yield* sql`UPDATE capsules SET ${set} WHERE id = ${capsuleId}`
      case "plan":
        return yield* sql`UPDATE runs SET ${set} WHERE id = (SELECT plan_run_id FROM runs WHERE id = ${runId})`
      case "workspaces":
        return yield* sql`UPDATE workspaces SET ${set} WHERE id = (SELECT workspace_id FROM runs WHERE id = ${runId})`
    }
  })

/** Makes the plan use a Connection, and revokes the Connection. */
const revoked = Effect.fnUntraced(function* (applying: Applying) {
  const { context } = yield* TestPlane
  const connections = yield* ConnectionCommands
  const connection = yield* demoConnection("token")
  const resolution = {
    provider: demo,
    moduleLocalName: "demo",
    status: "resolved_provider_connection",
    connectionId: connection.id,
    envNames: []
  }
  yield* changed("plan", { evidence: JSON.stringify({ providerResolutions: [resolution] }) })(applying)
  yield* connections.Revoke(connection.id, { context })
})

/** Events that prevent the start of a prepared apply, each with the status and code with which the Run ends. */
export const startObstacles = {
  "its cancel was accepted": { happens: cancelled, status: "cancelled", code: undefined },
  "its plan was superseded": { happens: changed("plan", { status: "superseded" }), code: "plan_not_usable" },
  "its plan expired": { happens: changed("plan", { status: "expired" }), code: "plan_not_usable" },
  "the approval of its plan was withdrawn": {
    happens: changed("plan", { approved_at: null }),
    code: "plan_not_usable"
  },
  "a rule asks for more approvals": { happens: () => ruled(), code: "approval_lapsed" },
  "a Connection of its plan was revoked": { happens: revoked, code: "superseded" },
  "its Capsule has another authority": {
    happens: changed("capsules", { execution_authority_epoch: 99 }),
    code: "superseded"
  },
  "its Capsule has another state": {
    happens: changed("capsules", { current_state_generation: 99 }),
    code: "superseded"
  },
  "its Capsule is out of service": {
    happens: changed("capsules", { status: "released" }),
    code: "failed_precondition"
  },
  "its Workspace was archived": {
    happens: changed("workspaces", { archived_at: "2026-01-01T00:00:00.000Z" }),
    code: "failed_precondition"
  }
} as const

/** Undoes changes that would affect later tests on the same service. */
export const withoutObstacles = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DELETE FROM approval_rules`
  yield* sql`UPDATE workspaces SET archived_at = NULL`
})
