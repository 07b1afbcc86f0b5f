import { Schema } from "effect"
import { InputType } from "../manifest/InputType.ts"
import { CompatibilityReportId, InstallConfigId, RunId, SourceId, SourceSnapshotId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"
import { ProviderPackage, ProviderRequirement } from "./Provider.ts"

export class Finding extends Schema.Opaque<Finding>()(
  Schema.Struct({
    severity: Schema.Literals(["info", "warning", "error"]),
    code: Schema.String,
    message: Schema.String,
    path: Schema.optionalKey(Schema.String),
    line: Schema.optionalKey(Schema.Int)
  }).annotate({ identifier: "Finding" })
) {}

/** Returns true if a person must review the findings before installing the module. */
export const needAttention = (findings: ReadonlyArray<Finding>): boolean =>
  findings.some(({ severity }) => severity === "warning")

/**
 * The findings about variable files in the repository. Runs do not use such files, so a person has to enter the values as inputs.
 */
export const ignoredValues = (findings: ReadonlyArray<Finding>): ReadonlyArray<Finding> =>
  findings.filter(({ code }) => code === "tfvars_ignored")

/** The declaration of an input, without its name; absent in records from earlier releases. */
export class InputFacts extends Schema.Opaque<InputFacts>()(
  Schema.Struct({
    description: Schema.optionalKey(Schema.String),
    /** The type constraint as written. */
    typeExpression: Schema.optionalKey(Schema.String),
    /** The default as JSON text; absent if it is sensitive, not a literal, or too long. */
    defaultJson: Schema.optionalKey(Schema.String)
  })
) {}

export class ReportVariable extends Schema.Opaque<ReportVariable>()(
  Schema.Struct({
    name: Schema.String,
    type: InputType,
    required: Schema.Boolean,
    hasDefault: Schema.Boolean,
    sensitive: Schema.Boolean,
    ephemeral: Schema.Boolean,
    nullable: Schema.optionalKey(Schema.Boolean),
    /**
     * The position of the declaration in the source, so that a form can list inputs in source order. Absent in reports of
     * earlier releases.
     */
    declaredAt: Schema.optionalKey(Schema.Struct({ path: Schema.String, line: Schema.Int })),
    ...InputFacts.fields
  }).annotate({ identifier: "ReportVariable" })
) {}

export class ReportOutput extends Schema.Opaque<ReportOutput>()(
  Schema.Struct({
    name: Schema.String,
    sensitive: Schema.Boolean,
    ephemeral: Schema.Boolean,
    description: Schema.optionalKey(Schema.String)
  }).annotate({ identifier: "ReportOutput" })
) {}

export class ManifestDiagnostic extends Schema.Opaque<ManifestDiagnostic>()(
  Schema.Struct({
    path: Schema.String,
    code: Schema.String,
    message: Schema.String
  }).annotate({ identifier: "ManifestDiagnostic" })
) {}

/**
 * The effect of a valid manifest on one module. `path` is the module's path in the snapshot, as in `modulePath`; `key` is
 * the module's path in the repository, by which the manifest identifies the module. `absent`: the manifest does not contain
 * the module.
 */
export class ModuleVerdict extends Schema.Opaque<ModuleVerdict>()(
  Schema.Struct({
    path: Schema.String,
    key: Schema.String,
    verdict: Schema.Literals(["adopted", "rejected", "absent"]),
    reasons: Schema.Array(ManifestDiagnostic)
  }).annotate({ identifier: "ModuleVerdict" })
) {}

export class CompatibilityReport extends Schema.Opaque<CompatibilityReport>()(
  Schema.Struct({
    id: CompatibilityReportId,
    sourceId: SourceId,
    sourceSnapshotId: SourceSnapshotId,
    modulePath: Schema.String,
    status: Schema.Literals(["ready", "needs_attention", "unsupported"]),
    findings: Schema.Array(Finding),
    variables: Schema.Array(ReportVariable),
    outputs: Schema.Array(ReportOutput),
    providerPackages: Schema.Array(ProviderPackage),
    rootProviderRequirements: Schema.Array(ProviderRequirement),
    /** The effect of the repository's manifest. `digest` identifies the manifest on which the report is based. */
    manifest: Schema.Struct({
      status: Schema.String,
      digest: Schema.optionalKey(Schema.String),
      diagnostics: Schema.Array(ManifestDiagnostic),
      /**
       * The declarations that a module loses if its manifest entry is rejected: labels of inputs, features, requirements,
       * Interfaces and source build.
       */
      dropped: Schema.optionalKey(Schema.Array(Schema.String))
    }),
    /**
     * At most 256 modules: the checked module first, then the other modules of the snapshot. Absent in reports from releases
     * without this field.
     */
    modules: Schema.optionalKey(Schema.Array(ModuleVerdict)),
    /** The configuration that this check compiled. The `preflight` of an install plan uses it. */
    installConfigId: Schema.optionalKey(InstallConfigId),
    createdByRunId: RunId,
    createdAt: Timestamp
  }).annotate({ identifier: "CompatibilityReport" })
) {}

/** The modules that a scan found in the snapshot (specification, Sources). */
export class InstallModules extends Schema.Opaque<InstallModules>()(
  Schema.Struct({
    status: Schema.Literals(["ready", "empty"]),
    sourceSnapshotId: SourceSnapshotId,
    scopePath: Schema.String,
    modules: Schema.Array(
      Schema.Struct({
        path: Schema.String,
        status: Schema.Literals(["supported", "unsupported"]),
        providerPackages: Schema.Array(ProviderPackage),
        rootProviderRequirements: Schema.Array(ProviderRequirement),
        findings: Schema.Array(Finding)
      })
    )
  }).annotate({ identifier: "InstallModules" })
) {}
