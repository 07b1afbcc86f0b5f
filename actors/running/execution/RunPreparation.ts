import { Context, Effect, Layer, Result, type Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type LocalModule, type RunJob, timingWith } from "../../../runner/execution/RunJob.ts"
import type { ScannedModule } from "../../../runner/scan/ScannedModule.ts"
import { dependsOnTool, readsSameFiles, toolProblems } from "../../../runner/scan/ToolFit.ts"
import { type ToolName, toolTitles } from "../../../runner/toolchain/Tool.ts"
import { defaultProfile } from "../../../schema/policy/ExecutionProfile.ts"
import { CompatibilityReportId, type InstallConfigId, Subject } from "../../../schema/records/Ids.ts"
import type { ProviderRequirement, ProviderResolution } from "../../../schema/records/Provider.ts"
import type { RunEvidence, ToolIdentity } from "../../../schema/records/Run.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { ConnectionStore, effectiveStatus } from "../../inputs/connection/ConnectionStore.ts"
import { TokenRenewals } from "../../inputs/connection/TokenRenewals.ts"
import { derivedId, now } from "../../base/Identity.ts"
import { isApply } from "../../ledger/run/RunLifecycle.ts"
import { type HoldLost, holdOf } from "../../ledger/run/RunHold.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { acceptsDrift, isSpeculative, type RunRow, toRun } from "../../ledger/run/RunRow.ts"
import { RunSettings } from "../../ledger/run/RunSettings.ts"
import { CompatibilityCheck, decodeScan } from "../../ledger/source/CompatibilityCheck.ts"
import { StoredCommits } from "../../inputs/git/StoredCommits.ts"
import { makeModuleVerdicts } from "../../ledger/configuration/ModuleVerdicts.ts"
import { stagedOf } from "../../ledger/source/StagedRows.ts"
import { SourceStore, toReport } from "../../ledger/source/SourceStore.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import { capsuleSite, starterOf } from "./CapsuleConnections.ts"
import { openForRef } from "./ReviewedRefs.ts"
import type { GuardedCapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { CredentialWaitJson, credentialWaitOf } from "../../ledger/capsule/CredentialWait.ts"
import {
  carriedVariables,
  InstallConfigStore,
  type LoadedInstallConfig,
  type StoredConfig
} from "../../ledger/configuration/InstallConfigStore.ts"
import { InstallConfigCompilation } from "../../ledger/configuration/InstallConfigCompilation.ts"
import { operatorEvidence, requirementsOf, type SnapshotPlace } from "../../ledger/configuration/OperatorAuthority.ts"
import { OperatorSuccession } from "../../ledger/configuration/OperatorSuccession.ts"
import { authorityMoved } from "../../ledger/capsule/AuthorityColumns.ts"
import { makeAutomaticObstacle } from "./AutomaticObstacle.ts"
import { makeCapsuleObstacle } from "./CapsuleObstacle.ts"
import { acceptanceRefusal } from "./AcceptedDrift.ts"
import { BaseComparison } from "./BaseComparison.ts"
import { blocked, type RunBlocked } from "./RunSteps.ts"
import { RunInputs } from "./RunInputs.ts"
import { poolObstacle } from "./PoolObstacle.ts"
import { newerState } from "./AdoptedState.ts"
import { StateIndex } from "../../ledger/state/StateIndex.ts"
import { StateVersions } from "../../ledger/state/StateVersions.ts"
import { isAllowedBySource, pullRequestSpecOf } from "../../ledger/run/PullRequestPlan.ts"
import type { ReportRow, SnapshotRow, SourceRow } from "../../ledger/source/SourceRow.ts"
import type { StateVersionRow } from "../../ledger/state/StateVersionRow.ts"
import { providedService } from "../../base/Provided.ts"
import { Toolchain } from "../../../runner/toolchain/Toolchain.ts"
import { localPool } from "../../../schema/agent/PoolName.ts"
import {
  type NamedProfile,
  OperatorConfigs,
  profileNameOf,
  profileOf
} from "../../ledger/configuration/OperatorConfigs.ts"
import { makeReportedMachine } from "./ReportedMachine.ts"

/** Determines the execution profile and the tool of a Run. */
const makeRunProfiles = Effect.gen(function* () {
  const ledger = yield* RunLedger
  const toolchain = yield* Toolchain
  const operator = yield* OperatorConfigs
  const agents = yield* makeReportedMachine

  /** The profile is recorded before the execution, so that it is known even if the Run fails. */
  const of = Effect.fnUntraced(function* (run: RunRow, config: LoadedInstallConfig) {
    const name = profileNameOf(config.config.operator)
    const profile = profileOf(operator, name)
    if (profile === undefined) {
      return yield* blocked(
        "profile_unavailable",
        `The execution profile ${name} of this Capsule's configuration is not defined any more. Plan again to follow the operator's policy, or ask the operator to define it.`
      )
    }
    const pool = profile.profile.pool ?? localPool
    if (pool !== run.pool) {
      return yield* blocked(
        "profile_unavailable",
        `The execution profile ${name} uses the pool ${pool} now, and this Run was queued for ${run.pool}. Start it again.`
      )
    }
    yield* ledger.record(holdOf(run), { profile: profile.name, profile_digest: profile.digest })
    return profile
  })

  /** Selects the tool. A Capsule keeps the tool that applied it. A profile may require a tool and a version. */
  const tool = Effect.fnUntraced(function* (
    run: RunRow,
    capsule: GuardedCapsuleRow,
    profile: NamedProfile,
    evidence: RunEvidence
  ): Effect.fn.Return<ToolIdentity, RunBlocked> {
    const wanted = profile.profile.tool
    if (capsule.tool_name !== null && wanted?.name !== undefined && wanted.name !== capsule.tool_name) {
      return yield* blocked(
        "profile_unavailable",
        `The Capsule was applied with ${toolTitles[capsule.tool_name]}, and the execution profile ${profile.name} uses ${toolTitles[wanted.name]}. A Capsule keeps its tool: ask the operator to choose another profile for it.`,
        evidence
      )
    }
    if (run.pool !== localPool) return yield* agents.tool(run, evidence)
    const name = capsule.tool_name ?? wanted?.name
    return yield* toolchain
      .resolve(name === undefined && wanted?.version === undefined ? undefined : { name, version: wanted?.version })
      .pipe(
        Effect.mapError((error) =>
          wanted === undefined
            ? blocked("tool_unavailable", error.message, evidence)
            : blocked(
                "profile_unavailable",
                `The execution profile ${profile.name}: ${error.message} ${error.remedy}`,
                evidence
              )
        )
      )
  })

  return { of, tool }
})

/** Codes of findings that reveal a block that configures the state, or that may hide such a block. */
const stateFindings: ReadonlySet<string> = new Set(["backend_overridden", "cloud_overridden", "more_findings"])

/** Returns true if the module may configure its own state backend. */
export const configuresState = ({ findings }: Pick<ScannedModule, "findings">): boolean =>
  findings.some(({ code }) => stateFindings.has(code))

const isSelfContained = (scan: Pick<ScannedModule, "findings" | "providerPackages">) =>
  scan.providerPackages.length === 0 && !configuresState(scan)

/** The result of preparing a plan, drift check or apply. `run` is the row with its current authority. */
export interface PreparedRun {
  readonly run: RunRow
  readonly capsule: GuardedCapsuleRow
  readonly config: LoadedInstallConfig
  readonly snapshot: SnapshotRow
  readonly report: ReportRow
  readonly variables: StoredConfig["variables"]
  readonly moduleInputDefaults: Readonly<Record<string, Schema.Json>>
  /** The StateVersion on which the Run is based. */
  readonly base: StateVersionRow | undefined
  readonly evidence: RunEvidence
  /** Selects the operator's base configuration. */
  readonly place: SnapshotPlace
  readonly job: RunJob
}

/**
 * Rereads the authority of a Run and collects the runner's inputs. An apply requires the authority under which its plan was
 * reviewed. If a plan or drift check had to wait for another Run, it adopts and records the authority that applies after the
 * other Run.
 */
export class RunPreparation extends Context.Service<
  RunPreparation,
  { readonly prepare: (run: RunRow) => Effect.Effect<PreparedRun, RunBlocked | HoldLost> }
>()("svc/actors/running/execution/RunPreparation") {
  static readonly layer = Layer.effect(
    RunPreparation,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* RunLedger
      const capsules = yield* CapsuleLedger
      const configs = yield* InstallConfigStore
      const store = yield* SourceStore
      const states = yield* StateVersions
      const index = yield* StateIndex
      const inputs = yield* RunInputs
      const connections = yield* ConnectionStore
      const renewals = yield* TokenRenewals
      const compatibility = yield* CompatibilityCheck
      const audit = yield* Audit
      const compilation = yield* InstallConfigCompilation
      const judged = yield* makeModuleVerdicts
      const settings = yield* RunSettings
      const profiles = yield* makeRunProfiles
      const succession = yield* OperatorSuccession
      const commits = yield* StoredCommits
      const capsuleObstacle = yield* makeCapsuleObstacle
      const automaticObstacle = yield* makeAutomaticObstacle
      const { compare: compareBase } = yield* BaseComparison

      /**
       * Rebases the Run on the current state of the Capsule. A Run that uses the deployed revision also adopts the Capsule's
       * current revision.
       */
      const rebased = Effect.fnUntraced(function* (run: RunRow, capsule: GuardedCapsuleRow) {
        const concernsLane = run.type === "plan" && run.purpose !== acceptsDrift
        const deployed = concernsLane ? null : capsule.adopted_snapshot_id
        const snapshotId = deployed ?? run.source_snapshot_id
        const snapshot = yield* store.findSnapshot(snapshotId)
        const authority = {
          source_snapshot_id: snapshotId,
          resolved_commit: snapshot?.resolved_commit ?? run.resolved_commit,
          install_config_id: capsule.install_config_id,
          execution_authority_epoch: capsule.execution_authority_epoch,
          base_state_generation: capsule.current_state_generation,
          base_state_version_id: capsule.current_state_version_id
        }
        yield* ledger.record(holdOf(run), authority)
        return { ...run, ...authority }
      })

      const siteOf = (run: RunRow, capsule: GuardedCapsuleRow, source: SourceRow | undefined, snapshot: SnapshotRow) =>
        Effect.map(capsuleSite(capsule, source, snapshot), (site) => ({
          ...site,
          isAllowedBySource: isAllowedBySource(pullRequestSpecOf(run), source)
        }))

      /** Repeats the check with the configuration and state that the Run has adopted. */
      const openedFor = Effect.fnUntraced(function* (
        run: RunRow,
        capsule: GuardedCapsuleRow,
        snapshot: SnapshotRow,
        configId: InstallConfigId
      ) {
        // An apply executes exactly what was approved, so nothing is checked again.
        if (isApply(run.type)) return {}
        const source = yield* store.find(snapshot.source_id)
        const starter = starterOf(run, capsule)
        const site = yield* siteOf(run, capsule, source, snapshot)
        const openedForRef = yield* openForRef({ capsule, source, site, starter, configId, isInstall: false }).pipe(
          Effect.mapError(({ code, message }) => blocked(code, message))
        )
        if (openedForRef === undefined) return {}
        yield* ledger.mergeEvidence(holdOf(run), { openedForRef })
        // A Run that restarts after an interruption keeps its earlier result.
        if (toRun(run).openedForRef !== undefined) return { openedForRef }
        const { basis, opened, openedBy, ref } = openedForRef
        yield* audit.append({
          workspaceId: run.workspace_id,
          actor: openedBy === undefined ? serviceContext.actor : { kind: "user", subject: Subject.make(openedBy) },
          action: "run.open_for_ref",
          target: { kind: "run", id: run.id },
          capsuleId: capsule.id,
          runId: run.id,
          data: { ref, resolvedCommit: snapshot.resolved_commit, opened, basis }
        })
        return { openedForRef }
      })

      /** Reports a newer commit of the lane for destroys and drift checks, because they use the deployed commit. */
      const newerCommit = Effect.fnUntraced(function* (
        run: RunRow,
        { source_id, tracked_path, tracked_ref: ref }: GuardedCapsuleRow,
        used: SnapshotRow
      ) {
        if (run.type !== "destroy_plan" && run.type !== "destroy_apply" && run.type !== "drift_check") return {}
        const newest = yield* store.currentSnapshot(source_id, ref, tracked_path)
        if (newest === undefined || newest.resolved_commit === used.resolved_commit) return {}
        const found = { newerCommit: { ref, sourceSnapshotId: newest.id, resolvedCommit: newest.resolved_commit } }
        // Records the value immediately, so that it is shown even if the Run fails before its tool starts.
        yield* ledger.mergeEvidence(holdOf(run), found)
        return found
      })

      const shownOf = Effect.fnUntraced(function* (
        run: RunRow,
        capsule: GuardedCapsuleRow,
        snapshot: SnapshotRow,
        configId: InstallConfigId
      ) {
        const opened = yield* openedFor(run, capsule, snapshot, configId)
        return { ...opened, ...(yield* newerCommit(run, capsule, snapshot)) }
      })

      const authority = Effect.fnUntraced(function* (created: RunRow) {
        const capsule = yield* capsules.find(created.capsule_id)
        if (capsule === undefined) return yield* Effect.die(new Error(`The Capsule of Run ${created.id} is gone`))
        const obstacle = (yield* capsuleObstacle(created, capsule)) ?? (yield* automaticObstacle(created, capsule))
        if (obstacle !== undefined) return yield* obstacle
        const run = authorityMoved(created, capsule) ? yield* rebased(created, capsule) : created
        const config = yield* configs.load(run.install_config_id)
        const snapshot = yield* store.findSnapshot(run.source_snapshot_id)
        if (config === undefined || snapshot === undefined) {
          return yield* Effect.die(new Error(`Run ${run.id} refers to records that do not exist`))
        }
        if (run.purpose === acceptsDrift && !isApply(run.type)) {
          const refusal = acceptanceRefusal(capsule, yield* states.find(capsule.current_state_version_id))
          if (refusal !== undefined) return yield* blocked("failed_precondition", refusal)
        }
        // A plan uses the operator's current policy, and an apply uses the policy under which its plan was reviewed. A plan that
        // accepts drift uses the applied configuration.
        if (isSpeculative(run) && (yield* succession.isBehind(config))) {
          return yield* blocked(
            "failed_precondition",
            "The operator has changed the base configuration of this module, and a speculative plan does not change its Capsule. Plan the Capsule once, so that it follows the operator."
          )
        }
        const followed =
          !isSpeculative(run) && ((run.type === "plan" && run.purpose !== acceptsDrift) || run.type === "destroy_plan")
            ? yield* succession
                .follow(capsule, config, run.id)
                .pipe(Effect.mapError(({ message }) => blocked("operator_config_refused", message)))
            : undefined
        if (followed === undefined) {
          return { run, capsule, config, snapshot, shown: yield* shownOf(run, capsule, snapshot, config.row.id) }
        }
        const successor = yield* configs.load(followed.install_config_id)
        if (successor === undefined) {
          return yield* Effect.die(new Error(`InstallConfig ${followed.install_config_id} was not stored`))
        }
        const rerun = yield* rebased(run, followed)
        const shown = yield* shownOf(rerun, followed, snapshot, successor.row.id)
        return { run: rerun, capsule: followed, config: successor, snapshot, shown }
      }, transaction(sql))

      /**
       * Returns the report for the commit. A newer commit has no report until the plan checks the commit. A module that an
       * earlier tool could not run is checked again, because the tool may have changed.
       */
      const reportOf = Effect.fnUntraced(function* (
        run: RunRow,
        snapshot: SnapshotRow,
        { module_path: modulePath }: Pick<GuardedCapsuleRow, "module_path">,
        tool: ToolName | undefined
      ) {
        const known = yield* store.newestReport(snapshot.id, modulePath)
        if (known !== undefined && !(known.status === "unsupported" && dependsOnTool(toReport(known).findings))) {
          const scan = yield* Effect.orDie(decodeScan(known.module_scan))
          if (tool === undefined || readsSameFiles(scan, tool)) return known
        }
        const staged = yield* compatibility
          .check({
            reportId: derivedId(CompatibilityReportId, "rep", run.id, "report"),
            // A speculative plan is removed before the report is, so the report refers to the snapshot's sync instead.
            runId: isSpeculative(run) ? snapshot.created_by_run_id : run.id,
            sourceId: snapshot.source_id,
            snapshot: { id: snapshot.id, archiveDigest: snapshot.archive_digest, warnings: [] },
            modulePath,
            tool
          })
          .pipe(Effect.catchTag("CheckImpossible", (error) => Effect.fail(blocked(error.code, error.message))))
        const carrier = stagedOf(snapshot)
        const verdicts = yield* judged(compilation.annotate(staged, carrier), carrier).pipe(
          Effect.catchTag("CheckImpossible", (error) => Effect.fail(blocked(error.code, error.message)))
        )
        yield* store.insertReport(run.workspace_id, verdicts)
        const stored = yield* store.newestReport(snapshot.id, modulePath)
        return stored ?? (yield* Effect.die(new Error(`The report of ${snapshot.id} was not stored`)))
      })

      /** In the Capsule's row, records the missing credential and the people who must act. */
      const waits = Effect.fnUntraced(function* (
        run: RunRow,
        capsule: GuardedCapsuleRow,
        resolution: ProviderResolution
      ) {
        if (isSpeculative(run)) return
        const since = yield* now
        const connection = yield* connections.find(resolution.connectionId ?? null)
        const wait = credentialWaitOf({ id: run.id, since }, resolution, {
          isDenied: settings.deniedProviders.includes(resolution.provider),
          connection: connection === undefined ? undefined : effectiveStatus(connection, since),
          isOfPool:
            connection !== undefined && (yield* poolObstacle(connection, run.workspace_id, run.pool)) !== undefined
        })
        yield* capsules.annotate(capsule.id, { credential_wait: CredentialWaitJson.write(wait) })
      })

      const prepare = Effect.fn("Run.prepare")(function* (created: RunRow) {
        const { run, capsule, config, snapshot, shown } = yield* authority(created)
        yield* commits
          .ensure(run, snapshot)
          .pipe(Effect.mapError(({ message }) => blocked("snapshot_unavailable", message)))
        const profile = yield* profiles.of(run, config)
        // A missing tool is reported later, because other problems are more important.
        const likely = yield* Effect.result(profiles.tool(run, capsule, profile, shown))
        const report = yield* reportOf(
          run,
          snapshot,
          capsule,
          Result.isSuccess(likely) ? likely.success.name : (capsule.tool_name ?? undefined)
        )
        if (report.status === "unsupported") {
          const reasons = toReport(report).findings.filter((finding) => finding.severity === "error")
          return yield* blocked("module_unsupported", reasons.map((finding) => finding.message).join(" "))
        }
        const scan = yield* Effect.orDie(decodeScan(report.module_scan))
        const requirements: ReadonlyArray<ProviderRequirement> = toReport(report).rootProviderRequirements
        const source = yield* store.find(snapshot.source_id)
        // Renews tokens before the transaction that reads the values, because the token server may be slow and no transaction may
        // wait for it.
        const bindings = yield* configs.bindings(config.row.id)
        const unrenewed = yield* renewals.renew(bindings.map(({ connection_id }) => connection_id))
        // Repeats the check, because a use rule may have become stricter, or the person may have lost a role, since the Run
        // was created.
        const providers = yield* inputs.providers(run, config.row.id, requirements, scan.inheritedProviders ?? [], {
          starter: starterOf(run, capsule),
          site: yield* siteOf(run, capsule, source, snapshot),
          pool: run.pool
        })
        const ofOperator = operatorEvidence(config.config)
        const isBuilt = config.config.sourceBuild !== undefined
        const comparedBase = yield* compareBase(run, capsule, source, snapshot, isBuilt)
        const evidence: RunEvidence = {
          ...shown,
          ...(comparedBase === undefined ? {} : { base: comparedBase }),
          providerResolutions: providers.resolutions,
          ...(ofOperator === undefined ? {} : { operatorConfig: ofOperator })
        }
        // Reports a missing permission first, because it explains the failure better than the Connection's status does.
        const [lapsed] = providers.resolutions.flatMap((resolution) => {
          const blockedReason = unrenewed.get(resolution.connectionId ?? "")
          return blockedReason === undefined ? [] : [{ ...resolution, blockedReason }]
        })
        if (lapsed !== undefined && providers.blocked?.status !== "blocked_policy") {
          yield* waits(run, capsule, lapsed)
          return yield* blocked("blocked_missing_connection", lapsed.blockedReason, evidence)
        }
        if (providers.blocked !== undefined) {
          yield* waits(run, capsule, providers.blocked)
          return yield* blocked(
            providers.blocked.status,
            `${providers.blocked.provider}: ${providers.blocked.blockedReason ?? "no Connection"}${providers.blocked.status === "blocked_policy" ? "" : " Bind a Connection with a configuration plan."}`,
            evidence
          )
        }
        if (capsule.credential_wait !== null && !isSpeculative(run))
          yield* capsules.annotate(capsule.id, { credential_wait: null })
        const tool = yield* profiles.tool(run, capsule, profile, evidence)
        // The report may have been created with an older tool.
        const [unfit] = toolProblems(scan, tool)
        if (unfit !== undefined) {
          const where = unfit.path === undefined ? "" : ` (${unfit.path})`
          return yield* blocked("tool_unavailable", `${unfit.message}${where}`, evidence)
        }
        const base =
          capsule.current_state_version_id === null ? undefined : yield* states.find(capsule.current_state_version_id)
        const unfitState = yield* newerState(sql, base, tool)
        if (unfitState !== undefined) return yield* blocked("state_newer", unfitState, evidence)
        const localModules: ReadonlyArray<LocalModule> = scan.localModules
        return {
          run: { ...run, profile: profile.name, profile_digest: profile.digest },
          capsule,
          config,
          place: (yield* succession.placeOf(config)) ?? snapshot,
          snapshot,
          report,
          variables: carriedVariables(config.config, toReport(report).variables),
          moduleInputDefaults: providers.moduleInputDefaults,
          base,
          evidence: {
            ...evidence,
            tool: { name: tool.name, version: tool.version },
            ...(config.config.sourceBuild === undefined ? {} : { sourceBuild: config.config.sourceBuild })
          },
          job: {
            runId: run.id,
            workspaceId: capsule.workspace_id,
            module: { snapshotDigest: snapshot.archive_digest, path: capsule.module_path },
            localModules,
            addressKey: yield* index.addressKey(capsule.id),
            ...(isSpeculative(run) ? { speculative: true } : {}),
            variableTypes: Object.fromEntries(scan.variables.map(({ name, typeExpression }) => [name, typeExpression])),
            selfContained: isSelfContained(scan),
            tool: { name: tool.name, version: tool.version },
            credentials: providers.credentials,
            timing: timingWith(settings.timing),
            ...(profile.name === defaultProfile ? {} : { demands: requirementsOf(profile.name, profile.profile) }),
            stateSecrets: [...(base === undefined ? [] : yield* states.secrets(base)), ...providers.formerSecrets],
            ...(base === undefined ? {} : { state: yield* states.open(base) })
          }
        } satisfies PreparedRun
      })

      return yield* providedService(RunPreparation, { prepare })
    })
  )
}
