import { Context, Effect, Layer, Option, Result, Schema } from "effect"
import type { ScannedModule } from "../../../runner/scan/ScannedModule.ts"
import { parseTypeConstraint } from "../../../runner/scan/TypeConstraint.ts"
import type { CompiledInput, CompiledInstall } from "../../../schema/manifest/CompiledInstall.ts"
import {
  compileInstallConfig,
  type InstallEvidenceMismatch,
  type ManifestRequired
} from "../../../schema/manifest/InstallConfigCompiler.ts"
import type { InstallPins, VariableFacts } from "../../../schema/manifest/ModuleFacts.ts"
import type { Finding, ModuleVerdict, ReportVariable } from "../../../schema/records/CompatibilityReport.ts"
import { type CompatibilityReportId, InstallConfigId, type WorkspaceId } from "../../../schema/records/Ids.ts"
import type { DeclaredVariable } from "../../../schema/records/InstallConfig.ts"
import type { SourceBuild } from "../../../schema/records/Run.ts"
import { derivedId } from "../../base/Identity.ts"
import type { StagedReport } from "../source/StagedFindings.ts"
import { InstallConfigStore, type StoredConfig, type VariableValues } from "./InstallConfigStore.ts"
import { compilerBase, type NamedBase, operatorBaseOf, OperatorConfigs, storedOperator } from "./OperatorConfigs.ts"
import { declarationOf, type ManifestCarrier, manifestPin, repositoryPathOf } from "../source/SnapshotManifest.ts"
import { shownDeclaration } from "../source/VariableView.ts"
import type { OperatorBaseConfig } from "../../../schema/policy/OperatorBaseConfig.ts"
import { fits } from "./VariableRules.ts"
import { defaultOperatorPolicy, type OperatorPolicy } from "../../../schema/manifest/OperatorPolicy.ts"

/** The operator's limits, which no repository can widen. Reads `policy` each time, because a reload can change it. */
export const InstallPolicy = Context.Reference<{ readonly policy: OperatorPolicy }>(
  "svc/actors/ledger/configuration/InstallPolicy",
  { defaultValue: () => ({ policy: defaultOperatorPolicy }) }
)

/** Returns findings about operator values that contradict the module. A value of the wrong type would make every plan fail. */
export const operatorFindings = (
  base: OperatorBaseConfig | undefined,
  declared: ReadonlyArray<ReportVariable>
): ReadonlyArray<Finding> => {
  const variables = new Map(declared.map((variable) => [variable.name, variable]))
  return Object.entries(base?.variables ?? {}).flatMap(([name, value]): ReadonlyArray<Finding> => {
    const variable = variables.get(name)
    if (variable !== undefined) {
      if (fits(variable.type, value)) return []
      return [
        {
          severity: "error",
          code: "operator_variable_type",
          message: `The operator's base configuration sets the input ${name} to a value that is no ${variable.type}. Ask the operator to correct it.`
        }
      ]
    }
    // Skips a base configuration for a whole repository, because it may set variables that only some of the modules declare.
    if (base?.module === undefined) return []
    return [
      {
        severity: "warning",
        code: "operator_variable_unknown",
        message: `The operator's base configuration sets the input ${name}, which the module does not declare. It is not used.`
      }
    ]
  })
}

/** Input types from the scan. A report contains only a simplified form of these types. */
const ScannedTypes = Schema.Struct({
  variables: Schema.Array(Schema.Struct({ name: Schema.String, typeExpression: Schema.String }))
})
const decodeTypes = Schema.decodeUnknownOption(ScannedTypes)

const isMapOfStrings = (expression: string): boolean =>
  Result.match(parseTypeConstraint(expression), {
    onFailure: () => false,
    onSuccess: (type) => type.kind === "map" && type.element.kind === "string"
  })

const variableFacts = (variables: ReadonlyArray<ReportVariable>, scan: unknown): ReadonlyArray<VariableFacts> => {
  const types = Option.match(decodeTypes(scan), { onNone: () => [], onSome: (found) => found.variables })
  const maps = new Set(types.flatMap(({ name, typeExpression }) => (isMapOfStrings(typeExpression) ? [name] : [])))
  return variables.map((variable) => ({ ...variable, mapOfStrings: maps.has(variable.name) }))
}

/**
 * Returns the pins for the given snapshot. A review is valid only if it was made with the same pins, whichever report it
 * used.
 */
export const reviewedPins = (
  snapshot: ManifestCarrier,
  reportId: CompatibilityReportId | undefined,
  modulePath: string
): InstallPins => ({
  sourceSnapshotId: snapshot.id,
  compatibilityReportId: reportId ?? "",
  modulePath,
  ...manifestPin(snapshot)
})

const verdictNames: Readonly<Record<CompiledInstall["assistance"], ModuleVerdict["verdict"]>> = {
  adopted: "adopted",
  absent: "absent",
  not_declared: "absent",
  invalid: "rejected",
  rejected: "rejected"
}

const originOf = (
  compiled: CompiledInstall,
  input: CompiledInput | undefined,
  isOperators: boolean
): DeclaredVariable["origin"] => {
  if (isOperators) return "operator"
  if (input === undefined) return "host"
  if (compiled.origin !== "repository_manifest") return "user"
  if (input.origin === "manifest") return input.source
  // If the manifest omits an input, a person must set it only if the module requires it.
  return input.required ? "user" : "module_default"
}

/** Compiles a checked module into an install configuration. */
export class InstallConfigCompilation extends Context.Service<
  InstallConfigCompilation,
  {
    /** Adds the manifest's result to the report. */
    readonly annotate: (staged: StagedReport, snapshot: ManifestCarrier) => StagedReport
    /** Returns the manifest's verdict on a module that was scanned but not checked. */
    readonly verdictOf: (snapshot: ManifestCarrier, scan: ScannedModule) => ModuleVerdict
    /** Compiles the reviewed configuration. Fails if the report was not created from `pins`. */
    readonly storedConfig: (
      staged: StagedReport,
      snapshot: ManifestCarrier,
      pins: InstallPins,
      given: { readonly names: ReadonlyArray<string>; readonly sourceBuild?: SourceBuild | undefined }
    ) => Result.Result<StoredConfig, InstallEvidenceMismatch | ManifestRequired>
    /** Returns the operator's values for the module whose configuration is being compiled. */
    readonly operatorValues: (snapshot: ManifestCarrier, config: StoredConfig) => VariableValues
    /**
     * Stores the configuration that a check compiled, without values, and records its id in the report. Runs in the caller's
     * transaction.
     */
    readonly baseConfig: (
      workspaceId: WorkspaceId,
      staged: StagedReport,
      snapshot: ManifestCarrier
    ) => Effect.Effect<StagedReport>
  }
>()("svc/actors/ledger/configuration/InstallConfigCompilation") {
  static readonly layer = Layer.effect(
    InstallConfigCompilation,
    Effect.gen(function* () {
      const store = yield* InstallConfigStore
      const install = yield* InstallPolicy
      const operator = yield* OperatorConfigs

      const baseOf = (snapshot: ManifestCarrier, modulePath: string): NamedBase | undefined =>
        operatorBaseOf(operator, { url: snapshot.url, path: repositoryPathOf(snapshot, modulePath) })

      const compile = ({ moduleScan, report }: StagedReport, snapshot: ManifestCarrier, pins: InstallPins) => {
        // Uses the pins in the report instead of the caller's pins, so that the comparison can detect a difference.
        const made: InstallPins = {
          sourceSnapshotId: report.sourceSnapshotId,
          compatibilityReportId: report.id,
          modulePath: report.modulePath,
          ...(report.manifest.digest === undefined ? {} : { manifestDigest: report.manifest.digest })
        }
        return compileInstallConfig({
          pins,
          facts: { pins: made, variables: variableFacts(report.variables, moduleScan), outputs: report.outputs },
          manifestKey: repositoryPathOf(snapshot, pins.modulePath),
          declaration: declarationOf(snapshot),
          policy: install.policy,
          base: compilerBase(baseOf(snapshot, report.modulePath))
        })
      }

      const annotate = (made: StagedReport, snapshot: ManifestCarrier): StagedReport => {
        const { manifestDigest } = manifestPin(snapshot)
        const pinned = manifestDigest === undefined ? {} : { digest: manifestDigest }
        const staged = { ...made, report: { ...made.report, manifest: { ...made.report.manifest, ...pinned } } }
        const compiled = compile(staged, snapshot, reviewedPins(snapshot, made.report.id, made.report.modulePath))
        const manifest = Result.match(compiled, {
          onSuccess: (install) => ({
            status: install.assistance,
            ...pinned,
            diagnostics: install.diagnostics,
            ...(install.dropped === undefined ? {} : { dropped: install.dropped })
          }),
          onFailure: (failure) => ({
            status: "required",
            ...pinned,
            diagnostics: failure._tag === "ManifestRequired" ? failure.diagnostics : []
          })
        })
        const required = manifest.status === "required"
        const ofOperator = operatorFindings(baseOf(snapshot, made.report.modulePath)?.config, made.report.variables)
        const refused = required || ofOperator.some(({ severity }) => severity === "error")
        return {
          ...staged,
          report: {
            ...staged.report,
            manifest,
            ...(refused ? { status: "unsupported" as const } : {}),
            findings: required
              ? [
                  ...staged.report.findings,
                  ...ofOperator,
                  {
                    severity: "error" as const,
                    code: "manifest_required",
                    message: Result.isFailure(compiled)
                      ? compiled.failure.message
                      : "The operator requires a valid repository manifest."
                  }
                ]
              : [...staged.report.findings, ...ofOperator]
          }
        }
      }

      const verdictOf = (snapshot: ManifestCarrier, scan: ScannedModule): ModuleVerdict => {
        const pins = reviewedPins(snapshot, undefined, scan.path)
        const key = repositoryPathOf(snapshot, scan.path)
        const compiled = compileInstallConfig({
          pins,
          facts: { pins, variables: variableFacts(scan.variables, scan), outputs: scan.outputs },
          manifestKey: key,
          declaration: declarationOf(snapshot),
          policy: install.policy,
          base: compilerBase(baseOf(snapshot, scan.path))
        })
        return Result.match(compiled, {
          onSuccess: ({ assistance, diagnostics }) => ({
            path: scan.path,
            key,
            verdict: verdictNames[assistance],
            reasons: diagnostics
          }),
          onFailure: (failure) => ({
            path: scan.path,
            key,
            verdict: "rejected",
            reasons: failure._tag === "ManifestRequired" ? failure.diagnostics : []
          })
        })
      }

      const storedConfig = (
        staged: StagedReport,
        snapshot: ManifestCarrier,
        pins: InstallPins,
        given: { readonly names: ReadonlyArray<string>; readonly sourceBuild?: SourceBuild | undefined }
      ) =>
        Result.map(compile(staged, snapshot, pins), (compiled): StoredConfig => {
          const inputs = new Map(compiled.inputs.map((input) => [input.name, input]))
          const base = baseOf(snapshot, staged.report.modulePath)
          const ofOperator =
            base === undefined
              ? undefined
              : storedOperator(base, new Set(staged.report.variables.map(({ name }) => name)))
          const build = compiled.sourceBuild?.origin === "operator" ? compiled.sourceBuild.proposal : given.sourceBuild
          const proposed = build ?? compiled.sourceBuild?.proposal
          return {
            compiled,
            variables: staged.report.variables.map((variable) => ({
              name: variable.name,
              type: variable.type,
              required: variable.required,
              hasDefault: variable.hasDefault,
              sensitive: variable.sensitive || inputs.get(variable.name)?.secret === true,
              ephemeral: variable.ephemeral,
              ...shownDeclaration(variable, inputs.get(variable.name)?.secret === true),
              origin: originOf(
                compiled,
                inputs.get(variable.name),
                ofOperator?.variables.includes(variable.name) === true
              ),
              set: given.names.includes(variable.name) || ofOperator?.variables.includes(variable.name) === true
            })),
            outputs: staged.report.outputs,
            rootProviderRequirements: staged.report.rootProviderRequirements,
            ...(proposed === undefined ? {} : { sourceBuild: proposed }),
            ...(ofOperator === undefined ? {} : { operator: ofOperator })
          }
        })

      const operatorValues = (
        snapshot: ManifestCarrier,
        { compiled, operator: kept }: StoredConfig
      ): VariableValues => {
        const values = baseOf(snapshot, compiled.pins.modulePath)?.config.variables ?? {}
        return Object.fromEntries(Object.entries(values).filter(([name]) => kept?.variables.includes(name) === true))
      }

      const baseConfig = Effect.fn("InstallConfigCompilation.baseConfig")(function* (
        workspaceId: WorkspaceId,
        staged: StagedReport,
        snapshot: ManifestCarrier
      ) {
        if (staged.report.status === "unsupported") return staged
        const pins = reviewedPins(snapshot, staged.report.id, staged.report.modulePath)
        const config = storedConfig(staged, snapshot, pins, { names: [] })
        if (Result.isFailure(config)) return staged
        const id = derivedId(InstallConfigId, "icfg", staged.report.id, "base")
        yield* store.insert({
          id,
          workspaceId,
          origin: config.success.operator === undefined ? config.success.compiled.origin : "operator",
          modulePath: staged.report.modulePath,
          sourceSnapshotId: staged.report.sourceSnapshotId,
          compatibilityReportId: staged.report.id,
          contractDigest: staged.contractDigest,
          config: config.success,
          values: operatorValues(snapshot, config.success),
          bindings: []
        })
        return { ...staged, report: { ...staged.report, installConfigId: id } }
      })

      return InstallConfigCompilation.of({ annotate, verdictOf, storedConfig, operatorValues, baseConfig })
    })
  )
}
