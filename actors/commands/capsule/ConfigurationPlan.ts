import { Effect, Result } from "effect"
import type { ConfigurationPlanRequest } from "../../../schema/api/ConfigurationRequests.ts"
import { type ApiError, failedPrecondition, invalidRequest } from "../../../schema/errors/ApiError.ts"
import { type CapsuleId, InstallConfigId, RunId } from "../../../schema/records/Ids.ts"
import type { CommandContext, IdempotentRequest } from "../../../schema/commands/Command.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { Receipts } from "../../base/idempotency/Receipts.ts"
import { newId } from "../../base/Identity.ts"
import { patchBlueprints } from "../../ledger/interface/BlueprintPatch.ts"
import { InterfaceLedger } from "../../ledger/interface/InterfaceLedger.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { toRun } from "../../ledger/run/RunRow.ts"
import { SourceStore } from "../../ledger/source/SourceStore.ts"
import type { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import { type GuardedCapsuleRow, guardHolds } from "../../ledger/capsule/CapsuleRow.ts"
import { checkBindings } from "./CheckedBindings.ts"
import { CapsuleRuns } from "./CapsuleRuns.ts"
import { ConfigSuccession, guardMoved } from "../../ledger/configuration/ConfigSuccession.ts"
import { bindingsOf } from "../../ledger/configuration/StoredBindings.ts"
import { InstallConfigStore, type LoadedInstallConfig } from "../../ledger/configuration/InstallConfigStore.ts"
import { InstallPolicy } from "../../ledger/configuration/InstallConfigCompilation.ts"
import { changeableVariables, checkValues, marked, patchedValues } from "../../ledger/configuration/VariableRules.ts"

const patched = Effect.fnUntraced(function* (config: LoadedInstallConfig, request: ConfigurationPlanRequest) {
  const configs = yield* InstallConfigStore
  const patch = request.variablePatch ?? {}
  const variables = changeableVariables(config.config)
  yield* checkValues("variablePatch.set", variables, patch.set ?? {})
  const values = patchedValues(variables, yield* configs.values(config.row), patch)
  return Result.isFailure(values) ? yield* invalidRequest(values.failure) : values.success
})

/**
 * Adds the Interfaces that the person proposes to the Interfaces of the configuration (specification, Configuration plans).
 */
const withBlueprints = Effect.fnUntraced(function* (config: LoadedInstallConfig, request: ConfigurationPlanRequest) {
  const { compiled, outputs } = config.config
  const { interfaceBlueprints: added = [] } = request
  if (added.length === 0) return compiled
  const { policy } = yield* InstallPolicy
  const patched = patchBlueprints(compiled, outputs, added, policy)
  if (Result.isFailure(patched)) return yield* invalidRequest(`interfaceBlueprints: ${patched.failure}`)
  const { interfaceBlueprints } = patched.success
  // Ignores existing Interfaces, because a client may send them back.
  const isWider = interfaceBlueprints.length > compiled.interfaceBlueprints.length
  return isWider && config.row.origin === "repository_manifest"
    ? yield* invalidRequest("interfaceBlueprints: the Interfaces of this Capsule are those of its manifest.")
    : patched.success
})

/** Adds the new Interfaces as pending. They become usable once the configuration has been applied. */
const announceBlueprints = Effect.fnUntraced(function* (
  capsule: GuardedCapsuleRow,
  before: LoadedInstallConfig,
  compiled: LoadedInstallConfig["config"]["compiled"]
) {
  const ledger = yield* InterfaceLedger
  const known = new Set(before.config.compiled.interfaceBlueprints.map(({ key }) => key))
  for (const blueprint of compiled.interfaceBlueprints) {
    if (!known.has(blueprint.key)) yield* ledger.announce(capsule, blueprint)
  }
})

/** Checks that the stored contract still matches the report for this exact snapshot. A newer snapshot is never used instead. */
const checkContract = Effect.fnUntraced(function* (config: LoadedInstallConfig) {
  const store = yield* SourceStore
  if (config.row.compatibility_report_id === null) return
  const report = yield* store.findReport(config.row.compatibility_report_id)
  if (report !== undefined && report.contract_digest === config.row.contract_digest) return
  return yield* failedPrecondition(
    "The configuration's contract does not match its compatibility report. Re-adopt the Capsule."
  )
})

/**
 * Changes the private configuration, advances the authority and creates a plan for review (specification, Configuration plans).
 */
export const configurationPlan = Effect.fnUntraced(function* (
  capsuleId: CapsuleId,
  context: CommandContext,
  request: ConfigurationPlanRequest,
  idempotency: IdempotentRequest,
  load: Effect.Effect<GuardedCapsuleRow, ApiError, CapsuleLedger>
) {
  const receipts = yield* Receipts
  const configs = yield* InstallConfigStore
  const succession = yield* ConfigSuccession
  const runs = yield* CapsuleRuns
  const ledger = yield* RunLedger
  const audit = yield* Audit

  const answer = Effect.fnUntraced(function* (runId: RunId) {
    const row = yield* ledger.find(runId)
    if (row === undefined || row.install_config_id === null) return yield* Effect.die(new Error(`Run ${runId} is gone`))
    return {
      targetInstallConfigId: row.install_config_id,
      planRunId: row.id,
      run: toRun(row)
    }
  })

  const create = Effect.gen(function* () {
    const capsule = yield* load
    if (!(yield* guardHolds(capsule, request.expected.authorityGuard))) return yield* guardMoved()
    yield* succession.idle(capsule)
    yield* configs.checkDigest(capsule.install_config_id)
    const config = yield* configs.load(capsule.install_config_id)
    if (config === undefined) return yield* Effect.die(new Error(`InstallConfig ${capsule.install_config_id} is gone`))
    yield* checkContract(config)
    const values = yield* patched(config, request)
    const bindings = request.providerBindings ?? (yield* bindingsOf(config.row.id))
    if (request.providerBindings !== undefined) {
      yield* checkBindings(capsule.workspace_id, config.config.rootProviderRequirements, request.providerBindings)
    }
    const compiled = yield* withBlueprints(config, request)
    const target = yield* newId(InstallConfigId, "icfg")
    const after = yield* succession.succeed(capsule, {
      id: target,
      workspaceId: capsule.workspace_id,
      origin: config.row.origin,
      modulePath: config.row.module_path,
      sourceSnapshotId: config.row.source_snapshot_id ?? undefined,
      compatibilityReportId: config.row.compatibility_report_id ?? undefined,
      contractDigest: config.row.contract_digest,
      config: {
        ...config.config,
        compiled,
        variables: marked(config.config.variables, values)
      },
      values,
      bindings
    })
    yield* announceBlueprints(after, config, compiled)
    const runId = yield* newId(RunId, "run")
    yield* runs.create(after, {
      runId,
      type: "plan",
      // A configuration plan keeps the deployed commit. Before the first apply, it uses the reviewed commit.
      sourceSnapshotId: capsule.adopted_snapshot_id ?? config.row.source_snapshot_id ?? undefined,
      trigger: "user",
      createdBy: context.actor.subject,
      tokenId: context.actor.tokenId
    })
    yield* audit.append({
      workspaceId: capsule.workspace_id,
      actor: context.actor,
      action: "capsule.configure",
      target: { kind: "capsule", id: capsuleId },
      capsuleId,
      runId,
      data: {
        set: Object.keys(request.variablePatch?.set ?? {}),
        removed: request.variablePatch?.remove ?? [],
        bindings: request.providerBindings?.length ?? null
      },
      requestId: context.requestId
    })
    return { value: yield* answer(runId), receipt: { resultId: runId, firstStatus: 201 } }
  })

  return yield* receipts.once(
    { scope: (yield* load).workspace_id, actor: context.actorKey, route: `capsules.configurationPlan ${capsuleId}` },
    idempotency,
    { create, replay: (receipt) => answer(RunId.make(receipt.resultId)) }
  )
})
