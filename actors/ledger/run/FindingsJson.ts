import { Schema } from "effect"
import { Finding } from "../../../schema/records/CompatibilityReport.ts"
import { jsonText } from "../../base/database/StoredRecord.ts"

/** JSON column codec for diagnostics. */
export const FindingsJson = jsonText(Schema.Array(Finding))
