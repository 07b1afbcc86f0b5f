import { Array as Arr, Result, Schema } from "effect"
import { decodeJson } from "../json/JsonDocument.ts"
import { repositoryFileLimits } from "../json/JsonLimits.ts"
import { describeDiagnostics, diagnosticReport, jsonDiagnostic } from "./DiagnosticReport.ts"
import { documentDecoder } from "./DocumentDecoder.ts"
import { ManifestDiagnostic } from "./ManifestDiagnostic.ts"
import { checkCrossFieldRules } from "./ModuleRules.ts"
import { checkPublicMaterial, checkTexts } from "./PublicMaterial.ts"
import { nameRequiredVersion } from "./RequiredVersions.ts"
import { manifestDocuments, ManifestVersion, type RepositoryManifest } from "./RepositoryManifest.ts"

/** A refused manifest, and the reasons. `apiVersion` is present if it was recognised. */
export class ManifestRefusal extends Schema.TaggedError<ManifestRefusal>()("ManifestRefusal", {
  apiVersion: Schema.optionalKey(ManifestVersion),
  diagnostics: Schema.NonEmptyArray(ManifestDiagnostic)
}) {
  override get message() {
    return `The repository manifest is invalid: ${describeDiagnostics(this.diagnostics)}`
  }
}

type Decoded = Result.Result<RepositoryManifest, Arr.NonEmptyReadonlyArray<ManifestDiagnostic>>

const decoders: Readonly<Record<ManifestVersion, (value: Schema.Json) => Decoded>> = {
  "svc.com/v1": documentDecoder(manifestDocuments["svc.com/v1"]),
  "svc.com/v2": documentDecoder(manifestDocuments["svc.com/v2"]),
  "svc.com/v2.1": documentDecoder(manifestDocuments["svc.com/v2.1"]),
  "svc.com/v2.2": documentDecoder(manifestDocuments["svc.com/v2.2"]),
  "svc.com/v2.3": documentDecoder(manifestDocuments["svc.com/v2.3"]),
  "svc.com/v2.4": documentDecoder(manifestDocuments["svc.com/v2.4"])
}

const isVersion = Schema.is(ManifestVersion)
const isObject = (value: Schema.Json): value is Schema.JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const refuse = (diagnostics: Arr.NonEmptyReadonlyArray<ManifestDiagnostic>, apiVersion?: ManifestVersion) =>
  Result.fail(new ManifestRefusal({ diagnostics, ...(apiVersion === undefined ? {} : { apiVersion }) }))

/**
 * Parses a repository manifest value returned by `decodeJson`. The version determines the closed structure. After that, the
 * parser checks the rules between fields and searches for material that no public document may contain.
 */
export const parseManifestValue = (value: Schema.Json): Result.Result<RepositoryManifest, ManifestRefusal> => {
  if (!isObject(value)) return refuse([{ path: "", code: "wrong_type", message: "Expected an object." }])
  const apiVersion: unknown = Object.hasOwn(value, "apiVersion") ? value["apiVersion"] : undefined
  if (!isVersion(apiVersion)) {
    const message = `Expected one of ${ManifestVersion.literals.join(", ")}.`
    return refuse([{ path: "/apiVersion", code: "unknown_version", message }])
  }
  const { diagnostics, report } = diagnosticReport()
  checkTexts(value, report)
  const decoded = decoders[apiVersion](value)
  if (Result.isFailure(decoded)) {
    const named = Arr.map(decoded.failure, nameRequiredVersion(apiVersion))
    return refuse(Arr.appendAll(named, diagnostics), apiVersion)
  }
  checkCrossFieldRules(decoded.success, report)
  checkPublicMaterial(decoded.success, report)
  return Arr.isReadonlyArrayNonEmpty(diagnostics) ? refuse(diagnostics, apiVersion) : Result.succeed(decoded.success)
}

/** Parses a repository manifest from the exact bytes of `.well-known/svc.json`. */
export const parseRepositoryManifest = (bytes: Uint8Array): Result.Result<RepositoryManifest, ManifestRefusal> => {
  const decoded = decodeJson(bytes, repositoryFileLimits)
  return Result.isFailure(decoded) ? refuse([jsonDiagnostic(decoded.failure)]) : parseManifestValue(decoded.success)
}
