import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { CapsuleId } from "../../../schema/records/Ids.ts"
import { effectiveDriftHours } from "../../../schema/tables/DriftTables.ts"

/**
 * Returns the reason why scheduled drift checks of a Capsule are blocked, or `undefined` if they are allowed. Runs in the
 * caller's transaction.
 */
export const scheduledCheckRefusal = Effect.fn("scheduledCheckRefusal")(function* (capsuleId: CapsuleId | null) {
  const sql = yield* SqlClient.SqlClient
  const checked = yield* sql`SELECT 1 AS one FROM capsules c JOIN workspaces w ON w.id = c.workspace_id
    WHERE c.id = ${capsuleId} AND ${sql.literal(effectiveDriftHours)} > 0`
  return checked.length > 0 ? undefined : "Scheduled drift checks of the Capsule are off."
}, Effect.orDie)
