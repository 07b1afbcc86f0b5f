import { Context, Effect, Layer, Result } from "effect"
import type { CompiledInput, CompiledInstall } from "../../schema/manifest/CompiledInstall.ts"
import { compileInstallConfig, type ManifestDeclaration } from "../../schema/manifest/InstallConfigCompiler.ts"
import { parseRepositoryManifest } from "../../schema/manifest/ManifestParser.ts"
import type { InstallPins } from "../../schema/manifest/ModuleFacts.ts"
import { InstallConfigId } from "../../schema/records/Ids.ts"
import type { DeclaredVariable } from "../../schema/records/InstallConfig.ts"
import type { SourceBuild } from "../../schema/records/Run.ts"
import { derivedId } from "../Identity.ts"
import type { StagedReport, StagedSnapshot } from "../source/StagedFindings.ts"
import { InstallConfigStore, type StoredConfig } from "./InstallConfigStore.ts"
import { InstallPolicy } from "./InstallPolicy.ts"

type ManifestCarrier = Pick<StagedSnapshot, "id" | "repositoryManifest" | "manifestDocument">

/** A file that was too large or no text is not adopted in any part; it counts like an absent one here. */
const declarationOf = (snapshot: ManifestCarrier): ManifestDeclaration => {
  if (snapshot.manifestDocument === undefined) return { _tag: "Absent" }
  const parsed = parseRepositoryManifest(new TextEncoder().encode(snapshot.manifestDocument))
  if (Result.isFailure(parsed)) return { _tag: "Refused", refusal: parsed.failure }
  return snapshot.repositoryManifest.status === "valid"
    ? { _tag: "Parsed", manifest: parsed.success }
    : { _tag: "Absent" }
}

const originOf = (compiled: CompiledInstall, input: CompiledInput | undefined): DeclaredVariable["origin"] => {
  if (input === undefined) return "host"
  if (input.origin === "generic") return "user"
  return compiled.origin === "repository_manifest" ? input.source : "user"
}

/** Turns a checked module into the configuration that a Capsule is installed with. */
export class InstallConfigCompilation extends Context.Service<
  InstallConfigCompilation,
  {
    /** Adds what became of the manifest to the report. */
    readonly annotate: (staged: StagedReport, snapshot: ManifestCarrier) => StagedReport
    readonly storedConfig: (
      staged: StagedReport,
      snapshot: ManifestCarrier,
      given: { readonly names: ReadonlyArray<string>; readonly sourceBuild?: SourceBuild | undefined }
    ) => Result.Result<StoredConfig, { readonly message: string }>
    /** Stores the configuration without values that a check compiles, and names it in the report. In the caller's transaction. */
    readonly baseConfig: (
      workspaceId: string,
      staged: StagedReport,
      snapshot: ManifestCarrier
    ) => Effect.Effect<StagedReport>
  }
>()("svc/actors/capsule/InstallConfigCompilation") {
  static readonly layer = Layer.effect(
    InstallConfigCompilation,
    Effect.gen(function* () {
      const store = yield* InstallConfigStore
      const { policy, base } = yield* InstallPolicy

      const compile = ({ report }: StagedReport, snapshot: ManifestCarrier) => {
        const declaration = declarationOf(snapshot)
        const digest = declaration._tag === "Absent" ? undefined : snapshot.repositoryManifest.digest
        const pins: InstallPins = {
          sourceSnapshotId: report.sourceSnapshotId,
          compatibilityReportId: report.id,
          modulePath: report.modulePath,
          ...(digest === undefined ? {} : { manifestDigest: digest })
        }
        return compileInstallConfig({
          pins,
          facts: { pins, variables: report.variables, outputs: report.outputs },
          declaration,
          policy,
          base
        })
      }

      const annotate = (staged: StagedReport, snapshot: ManifestCarrier): StagedReport => {
        const compiled = compile(staged, snapshot)
        const manifest = Result.match(compiled, {
          onSuccess: (install) => ({ status: install.assistance, diagnostics: install.diagnostics }),
          onFailure: (failure) => ({
            status: "required",
            diagnostics: failure._tag === "ManifestRequired" ? failure.diagnostics : []
          })
        })
        const required = manifest.status === "required"
        return {
          ...staged,
          report: {
            ...staged.report,
            manifest,
            ...(required ? { status: "unsupported" as const } : {}),
            findings: required
              ? [
                  ...staged.report.findings,
                  {
                    severity: "error" as const,
                    code: "manifest_required",
                    message: "The operator requires a valid repository manifest."
                  }
                ]
              : staged.report.findings
          }
        }
      }

      const storedConfig = (
        staged: StagedReport,
        snapshot: ManifestCarrier,
        given: { readonly names: ReadonlyArray<string>; readonly sourceBuild?: SourceBuild | undefined }
      ) =>
        Result.map(compile(staged, snapshot), (compiled): StoredConfig => {
          const inputs = new Map(compiled.inputs.map((input) => [input.name, input]))
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
              origin: originOf(compiled, inputs.get(variable.name)),
              set: given.names.includes(variable.name)
            })),
            outputs: staged.report.outputs,
            rootProviderRequirements: staged.report.rootProviderRequirements,
            ...(proposed === undefined ? {} : { sourceBuild: proposed })
          }
        })

      const baseConfig = Effect.fn("InstallConfigCompilation.baseConfig")(function* (
        workspaceId: string,
        staged: StagedReport,
        snapshot: ManifestCarrier
      ) {
        if (staged.report.status === "unsupported") return staged
        const config = storedConfig(staged, snapshot, { names: [] })
        if (Result.isFailure(config)) return staged
        const id = derivedId(InstallConfigId, "icfg", staged.report.id, "base")
        yield* store.insert({
          id,
          workspaceId,
          origin: config.success.compiled.origin,
          modulePath: staged.report.modulePath,
          sourceSnapshotId: staged.report.sourceSnapshotId,
          compatibilityReportId: staged.report.id,
          contractDigest: staged.contractDigest,
          config: config.success,
          values: {},
          bindings: []
        })
        return { ...staged, report: { ...staged.report, installConfigId: id } }
      })

      return InstallConfigCompilation.of({ annotate, storedConfig, baseConfig })
    })
  )
}
