import { createHash } from "node:crypto"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { neededOmissions } from "../../../runner/scan/ModuleFootprint.ts"
import { ModuleScanner } from "../../../runner/scan/ModuleScanner.ts"
import { ScannedModule } from "../../../runner/scan/ScannedModule.ts"
import { toolProblems } from "../../../runner/scan/ToolFit.ts"
import { SnapshotStore } from "../../../runner/snapshot/SnapshotStore.ts"
import type { ToolName } from "../../../runner/toolchain/Tool.ts"
import { Toolchain } from "../../../runner/toolchain/Toolchain.ts"
import { type Finding, needAttention } from "../../../schema/records/CompatibilityReport.ts"
import { canonicalJson } from "../../base/idempotency/RequestDigest.ts"
import { now } from "../../base/Identity.ts"
import type { StagedReport, StagedSnapshot } from "./StagedFindings.ts"
import type { CompatibilityReportId, RunId, SourceId } from "../../../schema/records/Ids.ts"
import { shownDeclaration } from "./VariableView.ts"

/** The check could not be performed. An unsupported module does not cause this error; it gets a report. */
export class CheckImpossible extends Schema.TaggedError<CheckImpossible>()("CheckImpossible", {
  code: Schema.Literals([
    "module_not_found",
    "module_selection_required",
    "scan_limit_exceeded",
    "scan_failed",
    "snapshot_unreadable"
  ]),
  message: Schema.String
}) {}

export interface CheckRequest {
  readonly reportId: CompatibilityReportId
  readonly runId: RunId
  readonly sourceId: SourceId
  readonly snapshot: Pick<StagedSnapshot, "id" | "archiveDigest" | "warnings">
  readonly modulePath: string
  /** The tool that an existing Capsule must keep using. If absent, any available tool is used. */
  readonly tool?: ToolName | undefined
}

/** Maximum number of omitted entries that a finding lists. */
const mostNamed = 20

const shownPaths = (paths: ReadonlyArray<string>): string =>
  `${paths.slice(0, mostNamed).join(", ")}${paths.length > mostNamed ? ", ..." : ""}`

const encodeScan = Schema.encodeEffect(Schema.toCodecJson(ScannedModule))
export const decodeScan = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.toCodecJson(ScannedModule)))

/**
 * Returns a digest of the inputs' names, basic types and flags, such as whether an input has a default. Later configurations
 * are checked against the digest.
 */
const contractOf = (scan: ScannedModule): string =>
  `sha256:${createHash("sha256")
    .update(
      canonicalJson(scan.variables.map((v) => [v.name, v.type, v.hasDefault, v.required, v.sensitive, v.ephemeral]))
    )
    .digest("hex")}`

const statusOf = (scan: ScannedModule, findings: ReadonlyArray<Finding>) => {
  if (scan.status === "unsupported" || findings.some(({ severity }) => severity === "error"))
    return "unsupported" as const
  return needAttention(findings) ? ("needs_attention" as const) : ("ready" as const)
}

export interface Neighbours {
  readonly paths: ReadonlyArray<string>
  readonly scanned: ReadonlyArray<ScannedModule> | undefined
}

/** Scans a module of a snapshot and reports whether it can be installed (specification, Sources). */
export class CompatibilityCheck extends Context.Service<
  CompatibilityCheck,
  {
    readonly check: (request: CheckRequest) => Effect.Effect<StagedReport, CheckImpossible>
    /**
     * Returns the given module, or the only module of the snapshot. If there are several modules, a person must select one
     * (see "Module selection rules" in the specification).
     */
    readonly moduleOf: (archiveDigest: string, modulePath: string | undefined) => Effect.Effect<string, CheckImpossible>
    /**
     * Returns the modules of a snapshot, with a scan of each module in `wanted`. Returns `undefined` if the modules exceed
     * the limits of one scan.
     */
    readonly neighbours: (
      archiveDigest: string,
      wanted: ReadonlyArray<string>
    ) => Effect.Effect<Neighbours, CheckImpossible>
  }
>()("svc/actors/ledger/source/CompatibilityCheck") {
  static readonly layer = Layer.effect(
    CompatibilityCheck,
    Effect.gen(function* () {
      const scanner = yield* ModuleScanner
      const snapshots = yield* SnapshotStore
      const toolchain = yield* Toolchain

      const impossible = (code: CheckImpossible["code"]) => (error: { readonly message: string }) =>
        Effect.fail(new CheckImpossible({ code, message: error.message }))

      const unlisted = (modulePath: string, paths: ReadonlyArray<string>) =>
        Effect.fail(
          new CheckImpossible({
            code: "module_not_found",
            message: `The snapshot has no module at ${modulePath}. ${paths.length === 0 ? "The snapshot has no modules." : `Its modules: ${shownPaths(paths)}.`}`
          })
        )

      const check = Effect.fn("CompatibilityCheck.check")(function* (request: CheckRequest) {
        const tree = yield* snapshots
          .open(request.snapshot.archiveDigest)
          .pipe(Effect.catch(impossible("snapshot_unreadable")))
        // Absent if no tool is installed; a later plan reports that problem.
        const tool = yield* Effect.option(
          toolchain.resolve(request.tool === undefined ? undefined : { name: request.tool })
        )
        const readAs = request.tool ?? Option.getOrUndefined(tool)?.name
        const scan = yield* scanner.scanModule(tree, request.modulePath, readAs).pipe(
          Effect.catchTags({
            ModuleNotInTree: () => unlisted(request.modulePath, scanner.listModules(tree)),
            ScanLimitExceeded: impossible("scan_limit_exceeded"),
            HclParserUnavailable: impossible("scan_failed")
          })
        )
        const addresses = yield* scanner.addresses(tree, request.modulePath, readAs).pipe(
          Effect.catchTags({
            ModuleNotInTree: impossible("module_not_found"),
            ScanLimitExceeded: impossible("scan_limit_exceeded"),
            HclParserUnavailable: impossible("scan_failed")
          })
        )
        // Skips a refused module, because the files that it reads do not matter.
        const needed =
          scan.status === "unsupported"
            ? []
            : yield* neededOmissions(tree, request.modulePath).pipe(
                Effect.provideService(ModuleScanner, scanner),
                Effect.catchTags({
                  ScanLimitExceeded: impossible("scan_limit_exceeded"),
                  HclParserUnavailable: impossible("scan_failed")
                })
              )
        const findings: ReadonlyArray<Finding> = [
          ...needed.slice(0, mostNamed).map(({ path }) => ({
            severity: "error" as const,
            code: "omitted_entry_needed",
            message:
              "The module reads this path, or may read it, and the snapshot does not hold it: its name cannot be stored on every file system, or it is no regular file. Rename it.",
            path
          })),
          ...(Option.isSome(tool) ? toolProblems(scan, tool.value) : []),
          ...scan.findings,
          ...request.snapshot.warnings.map((message) => ({
            severity: "warning" as const,
            code: "source_warning",
            message
          }))
        ]
        return {
          report: {
            id: request.reportId,
            sourceId: request.sourceId,
            sourceSnapshotId: request.snapshot.id,
            modulePath: request.modulePath,
            status: statusOf(scan, findings),
            findings,
            variables: scan.variables.map((variable) => ({
              name: variable.name,
              type: variable.type,
              required: variable.required,
              hasDefault: variable.hasDefault,
              sensitive: variable.sensitive,
              ephemeral: variable.ephemeral,
              nullable: variable.nullable,
              declaredAt: variable.location,
              ...shownDeclaration(variable, false)
            })),
            outputs: scan.outputs.map((output) => ({
              name: output.name,
              sensitive: output.sensitive,
              ephemeral: output.ephemeral,
              ...(output.description === undefined ? {} : { description: output.description })
            })),
            providerPackages: scan.providerPackages,
            rootProviderRequirements: scan.rootProviderRequirements,
            manifest: { status: "absent", diagnostics: [] },
            createdByRunId: request.runId,
            createdAt: yield* now
          },
          moduleScan: yield* Effect.orDie(encodeScan({ ...scan, addresses })),
          contractDigest: contractOf(scan)
        } satisfies StagedReport
      })

      const moduleOf = Effect.fn("CompatibilityCheck.moduleOf")(function* (
        archiveDigest: string,
        modulePath: string | undefined
      ) {
        if (modulePath !== undefined) return modulePath
        const tree = yield* snapshots.open(archiveDigest).pipe(Effect.catch(impossible("snapshot_unreadable")))
        const { modules } = yield* scanner.scanTree(tree).pipe(
          Effect.catchTags({
            ScanLimitExceeded: impossible("scan_limit_exceeded"),
            HclParserUnavailable: impossible("scan_failed")
          })
        )
        const [only, ...others] = modules
        if (only !== undefined && others.length === 0) return only.path
        const paths = modules.map((module) => module.path)
        return yield* new CheckImpossible(
          only === undefined
            ? { code: "module_not_found", message: "The snapshot contains no module." }
            : {
                code: "module_selection_required",
                message: `The snapshot holds ${modules.length} modules. Choose one with options.modulePath: ${shownPaths(paths)}`
              }
        )
      })

      const neighbours = Effect.fn("CompatibilityCheck.neighbours")(function* (
        archiveDigest: string,
        wanted: ReadonlyArray<string>
      ) {
        const tree = yield* snapshots.open(archiveDigest).pipe(Effect.catch(impossible("snapshot_unreadable")))
        const scanned = yield* scanner.scanModules(tree, wanted).pipe(
          Effect.catchTags({
            ScanLimitExceeded: () => Effect.undefined,
            HclParserUnavailable: impossible("scan_failed")
          })
        )
        return { paths: scanner.listModules(tree), scanned }
      })

      return CompatibilityCheck.of({ check, moduleOf, neighbours })
    })
  )
}
