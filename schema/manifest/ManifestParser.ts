import { Array as Arr, Result, Schema } from "effect"
import { decodeJson } from "../json/JsonDocument.ts"
import { repositoryFileLimits } from "../json/JsonLimits.ts"
import type { JsonRefusal } from "../json/JsonRefusal.ts"
import { exceedsJsonLimits } from "../json/JsonValueBounds.ts"
import { diagnosticPath } from "./DiagnosticPath.ts"
import { issueDiagnostics } from "./IssueDiagnostics.ts"
import { ManifestDiagnostic, maxDiagnostics } from "./ManifestDiagnostic.ts"
import { checkCrossFieldRules, type Report } from "./ModuleRules.ts"
import { checkPublicMaterial, checkTexts } from "./PublicMaterial.ts"
import { manifestDocuments, ManifestVersion, type RepositoryManifest } from "./RepositoryManifest.ts"

/** A manifest that is not accepted, and why. `apiVersion` is present once it was recognised. */
export class ManifestRefusal extends Schema.TaggedError<ManifestRefusal>()("ManifestRefusal", {
  apiVersion: Schema.optionalKey(ManifestVersion),
  diagnostics: Schema.NonEmptyArray(ManifestDiagnostic)
}) {
  override get message() {
    return `The repository manifest is invalid: ${this.diagnostics.map(({ path, message }) => `${path || "/"}: ${message}`).join(" ")}`
  }
}

/** A JSON refusal as a diagnostic of the whole document. */
export const jsonDiagnostic = (refusal: JsonRefusal): ManifestDiagnostic => ({
  path: "",
  code: `json_${refusal.reason}`,
  message:
    refusal.position === undefined
      ? refusal.message
      : `Line ${refusal.position.line}, column ${refusal.position.column}: ${refusal.message}`
})

/** Collects what rules report, without going past `maxDiagnostics`. */
export const diagnosticList = () => {
  const diagnostics: Array<ManifestDiagnostic> = []
  const report: Report = (path, code, message) => {
    if (diagnostics.length < maxDiagnostics) diagnostics.push({ path: diagnosticPath(path), code, message })
  }
  return { diagnostics, report }
}

const decodersWith = (errors: "all" | "first") => {
  const options = { errors, onExcessProperty: "error" } as const
  return {
    "svc.com/v1": Schema.decodeUnknownResult(manifestDocuments["svc.com/v1"], options),
    "svc.com/v2": Schema.decodeUnknownResult(manifestDocuments["svc.com/v2"], options),
    "svc.com/v2.1": Schema.decodeUnknownResult(manifestDocuments["svc.com/v2.1"], options),
    "svc.com/v2.2": Schema.decodeUnknownResult(manifestDocuments["svc.com/v2.2"], options),
    "svc.com/v2.3": Schema.decodeUnknownResult(manifestDocuments["svc.com/v2.3"], options),
    "svc.com/v2.4": Schema.decodeUnknownResult(manifestDocuments["svc.com/v2.4"], options)
  }
}

const reportingAll = decodersWith("all")
const reportingFirst = decodersWith("first")

/** Beyond this size only the first structural fault is looked for: a hostile document must not choose how much we say. */
const fullReportNodes = 4000

const isVersion = Schema.is(ManifestVersion)
const isObject = Schema.is(Schema.Record(Schema.String, Schema.Unknown))

type Diagnostics = Arr.NonEmptyReadonlyArray<ManifestDiagnostic>

const refuse = (diagnostics: Diagnostics, apiVersion?: ManifestVersion) =>
  Result.fail(new ManifestRefusal({ diagnostics, ...(apiVersion === undefined ? {} : { apiVersion }) }))

/**
 * Parses a repository manifest value that came from `decodeJson`. The version decides the closed structure; then come
 * the rules between fields and the search for material that no public document may hold.
 */
export const parseManifestValue = (value: Schema.Json): Result.Result<RepositoryManifest, ManifestRefusal> => {
  if (!isObject(value)) return refuse([{ path: "", code: "wrong_type", message: "Expected an object." }])
  const apiVersion = Object.hasOwn(value, "apiVersion") ? value["apiVersion"] : undefined
  if (!isVersion(apiVersion)) {
    const message = `Expected one of ${ManifestVersion.literals.join(", ")}.`
    return refuse([{ path: "/apiVersion", code: "unknown_version", message }])
  }
  const decoders = exceedsJsonLimits(value, { maxNodes: fullReportNodes }) === undefined ? reportingAll : reportingFirst
  const decoded: Result.Result<RepositoryManifest, Schema.SchemaError> = decoders[apiVersion](value)
  const { diagnostics, report } = diagnosticList()
  if (Result.isFailure(decoded)) {
    checkTexts(value, report)
    return refuse(Arr.appendAll(issueDiagnostics(decoded.failure.issue), diagnostics), apiVersion)
  }
  checkCrossFieldRules(decoded.success, report)
  checkTexts(value, report)
  checkPublicMaterial(decoded.success, report)
  return Arr.isReadonlyArrayNonEmpty(diagnostics) ? refuse(diagnostics, apiVersion) : Result.succeed(decoded.success)
}

/** Parses a repository manifest from the exact bytes of `.well-known/svc.json`. */
export const parseRepositoryManifest = (bytes: Uint8Array): Result.Result<RepositoryManifest, ManifestRefusal> => {
  const decoded = decodeJson(bytes, repositoryFileLimits)
  return Result.isFailure(decoded) ? refuse([jsonDiagnostic(decoded.failure)]) : parseManifestValue(decoded.success)
}
