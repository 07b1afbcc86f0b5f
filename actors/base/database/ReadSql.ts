import { Context } from "effect"
import type { SqlClient } from "effect/sql"

/**
 * The read-only connections, for lists, reads and streams that need not see an open write transaction. They never wait for a
 * writer. The basis of a decision is read through `SqlClient` inside the deciding transaction instead.
 */
export class ReadSql extends Context.Service<ReadSql, SqlClient.SqlClient>()("svc/actors/base/database/ReadSql") {}
