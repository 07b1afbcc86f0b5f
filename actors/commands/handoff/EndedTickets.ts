import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Invalidates every unused setup ticket. Runs in the caller's transaction. */
export const endTickets = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DELETE FROM setup_tickets WHERE used_at IS NULL`
}).pipe(Effect.orDie, Effect.withSpan("endTickets"))
