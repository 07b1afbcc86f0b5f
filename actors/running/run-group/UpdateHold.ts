import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { CommandContext, serviceContext } from "../../../schema/commands/Command.ts"
import type { RunGroupId } from "../../../schema/records/Ids.ts"
import { automationRefusal } from "../../ledger/workspace/StoredWorkspace.ts"
import { RunGroupRow } from "./RunGroupRow.ts"

const StarterJson = Schema.fromJsonString(CommandContext)
export const encodeStarter = Schema.encodeSync(StarterJson)
export const decodeStarter = Schema.decodeUnknownEffect(StarterJson)

/** Returns the person on whose behalf svc plans a group's waves. */
export const starterOf = (group: RunGroupRow) =>
  group.started_by === null ? Effect.succeed(serviceContext) : Effect.orDie(decodeStarter(group.started_by))

/** The reason why svc does not currently plan later waves of a group. */
interface Hold {
  readonly reason: string
  readonly byPause: boolean
}

/**
 * Returns the reason to hold the group, if any. svc plans later waves on behalf of the person who started the group, so
 * nothing starts if that person may no longer plan.
 */
export const holdOf = Effect.fnUntraced(function* (
  group: RunGroupRow
): Effect.fn.Return<Hold | undefined, never, SqlClient.SqlClient> {
  const sql = yield* SqlClient.SqlClient
  const refusal = yield* automationRefusal(group.workspace_id)
  if (refusal !== undefined) {
    return {
      reason: `The next wave is not planned: ${refusal}. It goes on once automation is resumed.`,
      byPause: true
    }
  }
  const { actor } = yield* starterOf(group)
  if (actor.subject === undefined) return undefined
  const members = yield* Effect.orDie(sql`SELECT 1 AS one FROM memberships m JOIN users u ON u.subject = m.subject
    WHERE m.workspace_id = ${group.workspace_id} AND m.subject = ${actor.subject} AND m.status = 'active'
      AND u.status = 'active' AND m.role IN ('member', 'admin', 'owner')`)
  if (members.length > 0) return undefined
  const reason =
    "The next wave is not planned: the person who started this update may not plan here any more. Start a new update."
  return { reason, byPause: false }
})

/**
 * Returns the reason why this group must not create a plan, or `undefined` if it may. Call it in the transaction that would
 * create the plan. `automatic` is true unless a person has just requested the plan.
 */
export const updateRefusal = Effect.fn("RunGroups.updateRefusal")(function* (id: RunGroupId, automatic: boolean) {
  const sql = yield* SqlClient.SqlClient
  const [group] = yield* Effect.orDie(RunGroupRow.rows(sql)`SELECT * FROM run_groups WHERE id = ${id}`)
  if (group === undefined || group.finished_at !== null || group.cancelled_at !== null) {
    return "The update is over, so nothing more is planned for it."
  }
  return automatic ? (yield* holdOf(group))?.reason : undefined
})
