import { type Array as Arr, Result, Schema } from "effect"
import { exceedsJsonLimits } from "../json/JsonValueBounds.ts"
import { issueDiagnostics } from "./IssueDiagnostics.ts"
import type { ManifestDiagnostic } from "./ManifestDiagnostic.ts"

/**
 * Beyond this size only the first fault is reported, so that a hostile document cannot make the report arbitrarily
 * expensive.
 */
const fullReportNodes = 4000

/** Decodes a closed document: fields that the schema does not define are refused, and every fault gets a diagnostic. */
export const documentDecoder = <Document extends Schema.ConstraintDecoder<unknown>>(schema: Document) => {
  const reportingAll = Schema.decodeUnknownResult(schema, { errors: "all", onExcessProperty: "error" })
  const reportingFirst = Schema.decodeUnknownResult(schema, { errors: "first", onExcessProperty: "error" })
  return (value: Schema.Json): Result.Result<Document["Type"], Arr.NonEmptyReadonlyArray<ManifestDiagnostic>> => {
    const small = exceedsJsonLimits(value, { maxNodes: fullReportNodes }) === undefined
    return Result.mapError((small ? reportingAll : reportingFirst)(value), ({ issue }) => issueDiagnostics(issue))
  }
}
