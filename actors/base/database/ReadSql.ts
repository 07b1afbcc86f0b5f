import { Context } from "effect"
import type { SqlClient } from "effect/sql"

/**
 * Read-only connections, for lists, reads and streams. They never wait for a writer, and do not see an open write transaction.
 * Read data that a decision depends on through `SqlClient` instead, inside the transaction that decides.
 */
export class ReadSql extends Context.Service<ReadSql, SqlClient.SqlClient>()("svc/actors/base/database/ReadSql") {}
