import { Array as Arr, Result, Schema } from "effect"
import { PublicGitAddress } from "./PublicGitAddress.ts"
import { PublicGitRef } from "./PublicGitRef.ts"
import { decodeJson } from "../json/JsonDocument.ts"
import { repositoryFileLimits } from "../json/JsonLimits.ts"
import { describeDiagnostics, diagnosticReport, jsonDiagnostic } from "./DiagnosticReport.ts"
import { documentDecoder } from "./DocumentDecoder.ts"
import { fieldRule, itemsBetween } from "./FieldRule.ts"
import { ManifestDiagnostic } from "./ManifestDiagnostic.ts"
import { checkTexts } from "./PublicMaterial.ts"
import { RelativeFolder } from "./RelativePath.ts"
import { presentationText, token } from "./TextRules.ts"

export const sourceOptionsVersion = "install.svc.com/v1alpha1"

/**
 * A Git source that people can select: a repository, a folder in the repository, and a ref (default: the newest stable
 * version tag).
 */
export const SourceOption = Schema.Struct({
  id: token(128),
  title: presentationText(160),
  source: Schema.Struct({ url: PublicGitAddress, path: RelativeFolder, ref: Schema.optionalKey(PublicGitRef) })
})
export type SourceOption = typeof SourceOption.Type

/** A public document that offers several Git sources behind one link. It configures nothing. */
export const SourceOptions = Schema.Struct({
  apiVersion: Schema.Literal(sourceOptionsVersion),
  kind: Schema.Literal("CapsuleSourceOptions"),
  metadata: Schema.Struct({
    name: presentationText(128),
    title: presentationText(160),
    description: Schema.optionalKey(presentationText(2000))
  }),
  options: Schema.Array(SourceOption).check(
    itemsBetween(1, 32),
    fieldRule<ReadonlyArray<SourceOption>>({
      code: "not_unique",
      expected: "options whose ids are all different",
      holds: (options) => new Set(options.map(({ id }) => id)).size === options.length
    })
  )
})
export type SourceOptions = typeof SourceOptions.Type

/** The source options document was rejected, with the reasons. */
export class SourceOptionsRefusal extends Schema.TaggedError<SourceOptionsRefusal>()("SourceOptionsRefusal", {
  diagnostics: Schema.NonEmptyArray(ManifestDiagnostic)
}) {
  override get message() {
    return `The source options document is invalid: ${describeDiagnostics(this.diagnostics)}`
  }
}

const decode = documentDecoder(SourceOptions)

const refuse = (diagnostics: Arr.NonEmptyReadonlyArray<ManifestDiagnostic>) =>
  Result.fail(new SourceOptionsRefusal({ diagnostics }))

/** Parses a source options document from its exact bytes: UTF-8 JSON of at most 128 KiB. */
export const parseSourceOptions = (bytes: Uint8Array): Result.Result<SourceOptions, SourceOptionsRefusal> => {
  const value = decodeJson(bytes, repositoryFileLimits)
  if (Result.isFailure(value)) return refuse([jsonDiagnostic(value.failure)])
  const { diagnostics, report } = diagnosticReport()
  checkTexts(value.success, report)
  const decoded = decode(value.success)
  if (Result.isFailure(decoded)) return refuse(Arr.appendAll(decoded.failure, diagnostics))
  return Arr.isReadonlyArrayNonEmpty(diagnostics) ? refuse(diagnostics) : Result.succeed(decoded.success)
}
