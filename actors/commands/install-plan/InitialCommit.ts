import { Context, Effect, Layer, Redacted, Result, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { Finding, ignoredValues } from "../../../schema/records/CompatibilityReport.ts"
import { CapsuleId, CompatibilityReportId, InstallConfigId, RunId } from "../../../schema/records/Ids.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { StateAdoption } from "../adoption/StateAdoption.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import { CapsuleRuns } from "../capsule/CapsuleRuns.ts"
import { checkUses, newCapsuleSite } from "../../running/execution/CapsuleConnections.ts"
import { openForInstall } from "../../running/execution/ReviewedRefs.ts"
import { checkBindings } from "../capsule/CheckedBindings.ts"
import { InstallConfigCompilation, reviewedPins } from "../../ledger/configuration/InstallConfigCompilation.ts"
import { InstallConfigStore } from "../../ledger/configuration/InstallConfigStore.ts"
import { checkValues, governedVariables, missingInputs } from "../../ledger/configuration/VariableRules.ts"
import { ConnectionUses } from "../../inputs/connection/ConnectionUses.ts"
import { derivedId } from "../../base/Identity.ts"
import { RunResults } from "../../ledger/run/RunResults.ts"
import { SourceLanes } from "../../ledger/source/SourceLanes.ts"
import { SourceStore, toReport } from "../../ledger/source/SourceStore.ts"
import { droppedAssistance } from "./ManifestWarnings.ts"
import { type InstallPlanRow, maxDiagnostics, type StoredRequest } from "./InstallPlanRow.ts"
import { checkMayDepend, filledInputs, insertDependencies } from "./InstallDependencies.ts"
import { InstallPlanStore } from "./InstallPlanStore.ts"
import { projectOf } from "./InstallPlanRequest.ts"
import { FindingsJson } from "../../ledger/run/CoordinatorSteps.ts"
import { providedService } from "../../base/Provided.ts"
import { ModuleScanJson } from "../../ledger/source/SourceRow.ts"
import {
  type StagedReport,
  StagedReportJson,
  type StagedSnapshot,
  StagedSnapshotJson
} from "../../ledger/source/StagedFindings.ts"
import { stagedOf } from "../../ledger/source/StagedRows.ts"

const decodeSnapshot = Schema.decodeUnknownEffect(StagedSnapshotJson)
const decodeReport = Schema.decodeUnknownEffect(StagedReportJson)

/** The snapshot and report to commit, either from this plan's own Runs or pinned by a preflight. */
interface InstallFindings {
  readonly snapshot: StagedSnapshot
  readonly report: StagedReport
  readonly staged: boolean
  /** The report that was reviewed, from the preflight or from this plan's check. */
  readonly reviewedReportId: CompatibilityReportId
}

const pinned = Effect.fnUntraced(function* (row: InstallPlanRow) {
  const store = yield* SourceStore
  const snapshot = yield* store.findSnapshot(row.source_snapshot_id)
  const report = yield* store.findReport(row.compatibility_report_id)
  if (snapshot === undefined || report === undefined)
    return yield* Effect.die(new Error(`Preflight of ${row.id} is gone`))
  return {
    staged: false,
    reviewedReportId: report.id ?? "",
    snapshot: stagedOf(snapshot),
    report: {
      report: toReport(report),
      moduleScan: ModuleScanJson.read(report.module_scan),
      contractDigest: report.contract_digest
    }
  } satisfies InstallFindings
})

/** Reads the snapshot and report of the module from which the Capsule is created. */
const installFindings = Effect.fnUntraced(function* (row: InstallPlanRow, request: StoredRequest) {
  if (request.preflight !== undefined) return yield* pinned(row)
  const results = yield* RunResults
  const snapshot = yield* results.load(row.sync_run_id)
  const report = yield* results.load(row.check_run_id)
  if (snapshot === undefined || report === undefined)
    return yield* Effect.die(new Error(`Findings of ${row.id} are gone`))
  return {
    staged: true,
    reviewedReportId: derivedId(CompatibilityReportId, "rep", row.check_run_id ?? "", "report"),
    snapshot: yield* Effect.orDie(decodeSnapshot(snapshot)),
    report: yield* Effect.orDie(decodeReport(report))
  } satisfies InstallFindings
})

/** Converts a Capsule's name to a slug, or to `capsule` if none of the characters can be used. */
const slugOf = (name: string): string =>
  name
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "")
    .slice(0, 40) || "capsule"

/** The initial commit was refused, and nothing has been written. */
export class InstallRefused extends Schema.TaggedError<InstallRefused>()("InstallRefused", {
  diagnostics: Schema.Array(Finding)
}) {}

const refused = (diagnostics: ReadonlyArray<Finding>) => new InstallRefused({ diagnostics })
const reason = (code: string, message: string): Finding => ({ severity: "error", code, message })

/** The finding for a completed install whose Capsule was imported. */
const importUnconfirmed: Finding = {
  severity: "warning",
  code: "import_unconfirmed",
  message:
    "The Capsule was imported and is disabled. An owner has to confirm that the original no longer manages it; then plan it."
}

/**
 * The atomic initial commit. One transaction creates the Source, SourceSnapshot, report, InstallConfig, bindings, Capsule, plan
 * Run and initial authority, and erases the coordinator's private values.
 */
export class InitialCommit extends Context.Service<
  InitialCommit,
  {
    readonly commit: (
      row: InstallPlanRow,
      request: StoredRequest,
      context: CommandContext
    ) => Effect.Effect<void, InstallRefused>
  }
>()("svc/actors/commands/install-plan/InitialCommit") {
  static readonly layer = Layer.effect(
    InitialCommit,
    Effect.gen(function* () {
      const store = yield* SourceStore
      const lanes = yield* SourceLanes
      const results = yield* RunResults
      const compilation = yield* InstallConfigCompilation
      const configs = yield* InstallConfigStore
      const capsules = yield* CapsuleLedger
      const runs = yield* CapsuleRuns
      const plans = yield* InstallPlanStore
      const adoption = yield* StateAdoption
      const audit = yield* Audit
      const random = yield* SecureRandom.SecureRandom
      const uses = yield* ConnectionUses

      const insertSource = Effect.fnUntraced(function* (
        row: InstallPlanRow,
        request: StoredRequest,
        findings: InstallFindings,
        chosenBy: { readonly subject: string | undefined; readonly isManager: boolean }
      ) {
        const { source } = request
        const { ref } = findings.snapshot
        const secret = Buffer.from(yield* random.randomBytes(32)).toString("base64url")
        const sourceId = findings.report.report.sourceId
        yield* store.insert({
          id: sourceId,
          workspaceId: row.workspace_id,
          name: source.name,
          url: findings.snapshot.url,
          defaultRef: ref,
          defaultRefByManager: ref === "HEAD" || chosenBy.isManager,
          createdBy: chosenBy.subject,
          defaultPath: findings.snapshot.path,
          authConnectionId: source.authConnectionId,
          autoSync: false,
          hookSecret: Redacted.make(secret)
        })
        yield* store.insertSnapshot(row.workspace_id, sourceId, findings.snapshot)
        yield* lanes.seen(sourceId, findings.snapshot, {
          snapshotId: findings.snapshot.id,
          commit: findings.snapshot.resolvedCommit,
          lookedAt: findings.snapshot.createdAt
        })
        yield* store.insertReport(row.workspace_id, findings.report)
        yield* results.drop(row.sync_run_id)
        yield* results.drop(row.check_run_id)
      })

      const commit = Effect.fn("InstallPlan.initialCommit")(function* (
        row: InstallPlanRow,
        request: StoredRequest,
        context: CommandContext
      ) {
        const findings = yield* installFindings(row, request)
        const { report } = findings.report
        if (report.status === "unsupported") {
          return yield* refused([
            reason("module_unsupported", `The module ${report.modulePath} is not supported.`),
            ...report.findings.filter((finding) => finding.severity === "error")
          ])
        }
        const values = yield* plans.values(row)
        const modulePath = request.options?.modulePath ?? report.modulePath
        const pins = reviewedPins(findings.snapshot, findings.reviewedReportId, modulePath)
        const config = compilation.storedConfig(findings.report, findings.snapshot, pins, {
          names: Object.keys(values),
          sourceBuild: request.initialConfiguration?.sourceBuild
        })
        if (Result.isFailure(config)) {
          const code = config.failure._tag === "ManifestRequired" ? "manifest_required" : "evidence_mismatch"
          return yield* refused([reason(code, config.failure.message)])
        }
        const bindings = request.options?.providerBindings ?? []
        const { isManager, projectId } = yield* Effect.gen(function* () {
          yield* checkValues("variables", governedVariables(config.success), values)
          yield* checkBindings(row.workspace_id, report.rootProviderRequirements, bindings)
          const project = yield* projectOf(row.workspace_id, request.capsule.projectId)
          const known = findings.staged ? undefined : yield* store.find(report.sourceId)
          const site = yield* newCapsuleSite({
            workspaceId: row.workspace_id,
            projectId: project,
            url: findings.snapshot.url,
            ref: findings.snapshot.ref,
            folder: findings.snapshot.path,
            modulePath: report.modulePath,
            source: known,
            commit: findings.snapshot.resolvedCommit
          })
          const starter = { subject: context.actor.subject, automatic: false }
          yield* checkMayDepend(row.workspace_id, request, context)
          const filled = yield* filledInputs(row.workspace_id, request, config.success, values)
          const missing = missingInputs(config.success.variables, values).filter((name) => !filled.has(name))
          if (missing.length > 0) {
            return yield* refused([
              ...missing.map((name) => reason("input_required", `The required input ${name} has no value.`)),
              ...ignoredValues(report.findings)
            ])
          }
          yield* checkUses(
            bindings.map(({ connectionId }) => connectionId),
            starter,
            site
          )
          yield* openForInstall({ source: known, site, starter })
          return { projectId: project, isManager: yield* uses.isManager(starter.subject, row.workspace_id) }
        }).pipe(
          Effect.mapError((error) =>
            error._tag === "InstallRefused" ? error : refused([reason(error.code, error.message)])
          )
        )
        if (yield* capsules.nameTaken(projectId, request.capsule.name, request.capsule.environment)) {
          return yield* refused([
            reason("failed_precondition", "A Capsule of this Project and environment has that name already.")
          ])
        }
        const allValues = { ...values, ...compilation.operatorValues(findings.snapshot, config.success) }
        const inputs = { variables: config.success.variables, values: allValues }
        const adopted = yield* adoption
          .adoptable(row, request.adopt, findings.report.moduleScan, inputs, context)
          .pipe(Effect.flatMap(Effect.fromResult), Effect.mapError(refused))
        const capsuleId = derivedId(CapsuleId, "cap", row.id, "capsule")
        const configId = derivedId(InstallConfigId, "icfg", row.id, "config")
        const importedFrom = adopted?.upload.imported_from ?? undefined
        // An imported Capsule has no plan until an owner confirms the import, so the Run that checked the module is used
        // instead.
        const runId = importedFrom === undefined ? derivedId(RunId, "run", row.id, "plan") : row.check_run_id
        if (runId === null) return yield* Effect.die(new Error(`${row.id} has no check Run`))
        if (findings.staged) yield* insertSource(row, request, findings, { subject: context.actor.subject, isManager })
        yield* configs.insert({
          id: configId,
          workspaceId: row.workspace_id,
          capsuleId,
          origin: config.success.compiled.origin,
          modulePath: report.modulePath,
          sourceSnapshotId: findings.snapshot.id,
          compatibilityReportId: report.id,
          contractDigest: findings.report.contractDigest,
          config: config.success,
          values: allValues,
          bindings
        })
        yield* capsules.insert({
          id: capsuleId,
          workspaceId: row.workspace_id,
          projectId,
          name: request.capsule.name,
          slug: slugOf(request.capsule.name),
          environment: request.capsule.environment,
          sourceId: report.sourceId,
          modulePath: report.modulePath,
          installConfigId: configId,
          trackedRef: findings.snapshot.ref,
          trackedPath: findings.snapshot.path,
          state: adopted?.pointers,
          importedFrom
        })
        if (adopted !== undefined) {
          yield* adoption.commit(row, adopted, { id: capsuleId, installConfigId: configId, runId }, context)
        }
        yield* insertDependencies(row, request, capsuleId)
        const capsule = yield* capsules.find(capsuleId)
        if (capsule === undefined)
          return yield* Effect.die(new Error(`Capsule ${capsuleId} vanished inside its own transaction`))
        if (importedFrom === undefined) {
          yield* Effect.orDie(
            runs.create(capsule, {
              runId,
              type: "plan",
              sourceSnapshotId: findings.snapshot.id,
              trigger: "user",
              createdBy: context.actor.subject,
              tokenId: context.actor.tokenId,
              coordinator: { kind: "install_plan", id: row.id }
            })
          )
        }
        const diagnostics = [
          ...(importedFrom === undefined ? [] : [importUnconfirmed]),
          ...droppedAssistance(config.success.compiled),
          ...ignoredValues(report.findings)
        ]
        yield* plans.update(row.id, {
          phase: importedFrom === undefined ? "planning" : "reviewable",
          diagnostics: FindingsJson.write(diagnostics.slice(0, maxDiagnostics)),
          private_variables: null,
          source_id: report.sourceId,
          source_snapshot_id: findings.snapshot.id,
          compatibility_report_id: report.id,
          install_config_id: configId,
          capsule_id: capsuleId,
          plan_run_id: importedFrom === undefined ? runId : null
        })
        yield* audit.append({
          workspaceId: row.workspace_id,
          actor: context.actor,
          action: "capsule.install",
          target: { kind: "capsule", id: capsuleId },
          capsuleId,
          runId,
          data: {
            installPlanId: row.id,
            resolvedCommit: findings.snapshot.resolvedCommit,
            modulePath: report.modulePath,
            producerCapsuleIds: (request.dependencies ?? []).map(({ producerCapsuleId }) => producerCapsuleId)
          },
          requestId: context.requestId
        })
      })

      return yield* providedService(InitialCommit, { commit })
    })
  )
}
