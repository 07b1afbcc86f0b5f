import { Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { rowShape } from "../database/Table.ts"
import { installationScope } from "./AuditChainRow.ts"

const EventTime = rowShape({ created_at: Timestamp })

/**
 * When the newest event of the installation's chain was written, according to the clock at that moment. The newest event is
 * determined by its position, since its time may come from a wrong clock.
 */
export const newestEventTime = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [event] = yield* EventTime.rows(sql)`SELECT created_at FROM audit_events WHERE workspace_id IS NULL
    AND position = (SELECT position FROM audit_chains WHERE scope = ${installationScope})`
  return Option.map(Option.fromNullishOr(event), ({ created_at }) => created_at)
})
