import { createHash } from "node:crypto"
import { Context, Effect, Layer, Result } from "effect"
import type { CompiledInput, CompiledInstall } from "../../schema/manifest/CompiledInstall.ts"
import {
  compileInstallConfig,
  type InstallEvidenceMismatch,
  type ManifestDeclaration,
  type ManifestRequired
} from "../../schema/manifest/InstallConfigCompiler.ts"
import { ManifestRefusal, parseRepositoryManifest } from "../../schema/manifest/ManifestParser.ts"
import type { InstallPins } from "../../schema/manifest/ModuleFacts.ts"
import { InstallConfigId } from "../../schema/records/Ids.ts"
import type { DeclaredVariable } from "../../schema/records/InstallConfig.ts"
import type { SourceBuild } from "../../schema/records/Run.ts"
import { canonicalJson } from "../idempotency/RequestDigest.ts"
import { derivedId } from "../Identity.ts"
import type { StagedReport, StagedSnapshot } from "../source/StagedFindings.ts"
import { InstallConfigStore, type StoredConfig } from "./InstallConfigStore.ts"
import { InstallPolicy } from "./InstallPolicy.ts"

type ManifestCarrier = Pick<StagedSnapshot, "id" | "repositoryManifest" | "manifestDocument">

/** A file that was refused by its bytes (too large, no text, no regular file): its reason is all that is known of it. */
const refusedByBytes = (reason: string | undefined): ManifestDeclaration => ({
  _tag: "Refused",
  refusal: new ManifestRefusal({
    diagnostics: [{ path: "", code: "invalid_value", message: reason ?? "The repository manifest cannot be read." }]
  })
})

const declarationOf = ({ manifestDocument, repositoryManifest }: ManifestCarrier): ManifestDeclaration => {
  if (repositoryManifest.status === "absent") return { _tag: "Absent" }
  if (manifestDocument === undefined) return refusedByBytes(repositoryManifest.reason)
  const parsed = parseRepositoryManifest(new TextEncoder().encode(manifestDocument))
  if (Result.isFailure(parsed)) return { _tag: "Refused", refusal: parsed.failure }
  return repositoryManifest.status === "valid"
    ? { _tag: "Parsed", manifest: parsed.success }
    : refusedByBytes(repositoryManifest.reason)
}

/** What pins the manifest of a snapshot. A file whose bytes were never read is pinned by the snapshot and the refusal. */
const manifestPin = ({ id, repositoryManifest }: ManifestCarrier): { readonly manifestDigest?: string } => {
  if (repositoryManifest.status === "absent") return {}
  const unread = () =>
    createHash("sha256")
      .update(canonicalJson(["refused-manifest", id, repositoryManifest.reason ?? ""]))
      .digest("hex")
  return { manifestDigest: repositoryManifest.digest ?? `sha256:${unread()}` }
}

/** What the snapshot at hand would be reviewed with: the pins of a review name the same, whatever the report says. */
export const reviewedPins = (
  snapshot: ManifestCarrier,
  compatibilityReportId: string,
  modulePath: string
): InstallPins => ({ sourceSnapshotId: snapshot.id, compatibilityReportId, modulePath, ...manifestPin(snapshot) })

const originOf = (compiled: CompiledInstall, input: CompiledInput | undefined): DeclaredVariable["origin"] => {
  if (input === undefined) return "host"
  if (compiled.origin !== "repository_manifest") return "user"
  if (input.origin === "manifest") return input.source
  // What the manifest does not mention: a person is asked where the module cannot do without, and only there.
  return input.required ? "user" : "module_default"
}

/** Turns a checked module into the configuration that a Capsule is installed with. */
export class InstallConfigCompilation extends Context.Service<
  InstallConfigCompilation,
  {
    /** Adds what became of the manifest to the report. */
    readonly annotate: (staged: StagedReport, snapshot: ManifestCarrier) => StagedReport
    /** Compiles what was reviewed: fails when the report was made from anything else than `pins` says. */
    readonly storedConfig: (
      staged: StagedReport,
      snapshot: ManifestCarrier,
      pins: InstallPins,
      given: { readonly names: ReadonlyArray<string>; readonly sourceBuild?: SourceBuild | undefined }
    ) => Result.Result<StoredConfig, InstallEvidenceMismatch | ManifestRequired>
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

      const compile = ({ report }: StagedReport, snapshot: ManifestCarrier, pins: InstallPins) => {
        // What the report itself was made from: it says so, the caller does not.
        const made: InstallPins = {
          sourceSnapshotId: report.sourceSnapshotId,
          compatibilityReportId: report.id,
          modulePath: report.modulePath,
          ...(report.manifest.digest === undefined ? {} : { manifestDigest: report.manifest.digest })
        }
        return compileInstallConfig({
          pins,
          facts: { pins: made, variables: report.variables, outputs: report.outputs },
          declaration: declarationOf(snapshot),
          policy,
          base
        })
      }

      const annotate = (made: StagedReport, snapshot: ManifestCarrier): StagedReport => {
        const { manifestDigest } = manifestPin(snapshot)
        const pinned = manifestDigest === undefined ? {} : { digest: manifestDigest }
        const staged = { ...made, report: { ...made.report, manifest: { ...made.report.manifest, ...pinned } } }
        const compiled = compile(staged, snapshot, reviewedPins(snapshot, made.report.id, made.report.modulePath))
        const manifest = Result.match(compiled, {
          onSuccess: (install) => ({ status: install.assistance, ...pinned, diagnostics: install.diagnostics }),
          onFailure: (failure) => ({
            status: "required",
            ...pinned,
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
        pins: InstallPins,
        given: { readonly names: ReadonlyArray<string>; readonly sourceBuild?: SourceBuild | undefined }
      ) =>
        Result.map(compile(staged, snapshot, pins), (compiled): StoredConfig => {
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
        const pins = reviewedPins(snapshot, staged.report.id, staged.report.modulePath)
        const config = storedConfig(staged, snapshot, pins, { names: [] })
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
