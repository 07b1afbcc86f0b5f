import { Schema } from "effect"
import { RunId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { table } from "../../base/database/Table.ts"

/** What a Run passes to its coordinator, as JSON that only those two read. */
export const RunResultRow = table("run_results", { run_id: RunId, result: Schema.String, created_at: Timestamp })
