import { Schema } from "effect"
import { Finding } from "../../../schema/records/CompatibilityReport.ts"
import { jsonText } from "../../base/database/StoredRecord.ts"

/** The diagnostics of a coordinator. */
export const FindingsJson = jsonText(Schema.Array(Finding))
