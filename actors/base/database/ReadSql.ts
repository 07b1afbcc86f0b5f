import { Context } from "effect"
import type { SqlClient } from "effect/sql"

/**
 * Read-only connections, for lists, reads and streams. They never wait for a writer, and do not see an open write transaction.
 * If a decision depends on the data, read it through `SqlClient` instead, in the transaction that makes the decision.
 */
export class ReadSql extends Context.Service<ReadSql, SqlClient.SqlClient>()("svc/actors/base/database/ReadSql") {}
