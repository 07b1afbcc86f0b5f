import { Effect } from "effect"
import type { ReAdoptionRequest } from "../../../schema/api/ConfigurationRequests.ts"
import { type ApiError, failedPrecondition, invalidRequest } from "../../../schema/errors/ApiError.ts"
import { type CapsuleId, InstallConfigId, type SourceSnapshotId } from "../../../schema/records/Ids.ts"
import { forbiddenMaterial } from "../../../schema/secret-material/SecretScan.ts"
import type { CommandContext, IdempotentRequest } from "../../../schema/commands/Command.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { Receipts } from "../../base/idempotency/Receipts.ts"
import { newId } from "../../base/Identity.ts"
import { requirementKey } from "../../../schema/records/Provider.ts"
import type { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import { type GuardedCapsuleRow, guardHolds, toCapsule } from "../../ledger/capsule/CapsuleRow.ts"
import { bindingsOf } from "../../ledger/configuration/StoredBindings.ts"
import { ConfigSuccession, guardMoved } from "../../ledger/configuration/ConfigSuccession.ts"
import {
  InstallConfigStore,
  type LoadedInstallConfig,
  type StoredConfig,
  type VariableValues
} from "../../ledger/configuration/InstallConfigStore.ts"
import { checkEvidence } from "./ReAdoptionEvidence.ts"
import {
  changeableVariables,
  checkValues,
  governedVariables,
  isFillable,
  marked,
  missingInputs
} from "../../ledger/configuration/VariableRules.ts"
import { SourceStore } from "../../ledger/source/SourceStore.ts"
import { stagedOf } from "../../ledger/source/StagedRows.ts"
import { type DerivedConfig, derivedConfig } from "../../ledger/configuration/DerivedConfig.ts"
import { InstallConfigCompilation } from "../../ledger/configuration/InstallConfigCompilation.ts"
import { baseMoved } from "../../ledger/configuration/OperatorAuthority.ts"
import { OperatorConfigs } from "../../ledger/configuration/OperatorConfigs.ts"

/** Checks that the current configuration still matches the report for its snapshot. */
const checkContract = Effect.fnUntraced(function* ({ row }: LoadedInstallConfig) {
  const store = yield* SourceStore
  const report = row.compatibility_report_id === null ? undefined : yield* store.findReport(row.compatibility_report_id)
  if (row.compatibility_report_id !== null && report?.contract_digest !== row.contract_digest) {
    return yield* failedPrecondition("The configuration does not match the compatibility report it was made from.")
  }
  return report
})

/**
 * Returns the module's configuration for the given snapshot: the current one if the operator's base configuration has not
 * changed; otherwise the snapshot's contract, compiled again.
 */
const reAdoptionTarget = Effect.fn("Capsule.reAdoptionTarget")(function* (
  current: LoadedInstallConfig,
  sourceSnapshotId: SourceSnapshotId
): Effect.fn.Return<DerivedConfig, ApiError, SourceStore | InstallConfigCompilation> {
  const store = yield* SourceStore
  const operator = yield* OperatorConfigs
  const compilation = yield* InstallConfigCompilation
  const row = yield* store.findSnapshot(sourceSnapshotId)
  if (current.row.source_snapshot_id === sourceSnapshotId) {
    const report = yield* checkContract(current)
    const isMoved = row !== undefined && baseMoved(operator, current.config, row, current.row.module_path)
    if (report === undefined || row === undefined || !isMoved) {
      return {
        origin: current.row.origin,
        compatibilityReportId: report?.id,
        contractDigest: current.row.contract_digest,
        config: current.config,
        // Keeps the operator's values if the base configuration has not changed since the compilation.
        operatorValues: row === undefined ? {} : compilation.operatorValues(stagedOf(row), current.config)
      }
    }
    return yield* derivedConfig(current, row, report)
  }
  const report = yield* store.newestReport(sourceSnapshotId, current.row.module_path)
  if (row === undefined || report === undefined || report.status === "unsupported") {
    return yield* failedPrecondition("sourceSnapshotId: the module has no successful compatibility check there.")
  }
  return yield* derivedConfig(current, row, report)
})

const reviewedValues = Effect.fnUntraced(function* (
  config: LoadedInstallConfig,
  target: StoredConfig,
  request: ReAdoptionRequest
) {
  const configs = yield* InstallConfigStore
  const variables = changeableVariables(target)
  const declared = new Set(variables.filter(isFillable).map((variable) => variable.name))
  const current: VariableValues = Object.fromEntries(
    Object.entries(yield* configs.values(config.row)).filter(([name]) => declared.has(name))
  )
  const user = variables.filter((variable) => variable.origin === "user")
  const reviewed = request.reviewedUserVariables
  if (reviewed === undefined) {
    const open = missingInputs(governedVariables(target), current)
    return open.length === 0
      ? current
      : yield* failedPrecondition(`The snapshot declares required inputs that have no value: ${open.join(", ")}.`)
  }
  const secret = user.find((variable) => variable.sensitive && Object.hasOwn(reviewed, variable.name))
  if (secret !== undefined)
    return yield* invalidRequest(`reviewedUserVariables.${secret.name}: secret inputs are not reviewed here.`)
  yield* checkValues("reviewedUserVariables", variables, reviewed)
  // The reviewed values replace all values except secrets and variables that the manifest does not declare, which the review does
  // not show.
  const replaced = new Set(user.filter(({ sensitive }) => !sensitive).map(({ name }) => name))
  const kept = Object.fromEntries(Object.entries(current).filter(([name]) => !replaced.has(name)))
  const values = { ...kept, ...reviewed }
  const missing = missingInputs(user, values)
  if (missing.length > 0)
    return yield* invalidRequest(`reviewedUserVariables: required inputs are missing: ${missing.join(", ")}.`)
  return values
})

/**
 * Binds a Capsule to a derived configuration if the Capsule has not changed since the review. Runs no infrastructure operation
 * (specification, Re-adoption of an InstallConfig).
 */
export const reAdopt = Effect.fnUntraced(function* (
  capsuleId: CapsuleId,
  context: CommandContext,
  request: ReAdoptionRequest,
  idempotency: IdempotentRequest,
  load: Effect.Effect<GuardedCapsuleRow, ApiError, CapsuleLedger>
) {
  const receipts = yield* Receipts
  const configs = yield* InstallConfigStore
  const succession = yield* ConfigSuccession
  const audit = yield* Audit

  const answer = Effect.fnUntraced(function* (targetId: InstallConfigId) {
    const target = yield* configs.load(targetId)
    const previous = target?.row.predecessor_id == null ? undefined : yield* configs.load(target.row.predecessor_id)
    if (target === undefined || previous === undefined || target.row.source_snapshot_id === null) {
      return yield* Effect.die(new Error(`InstallConfig ${targetId} is gone`))
    }
    yield* configs.checkDigest(previous.row.id)
    yield* configs.checkDigest(target.row.id)
    return {
      capsule: yield* toCapsule(yield* load),
      previousInstallConfigId: previous.row.id,
      previousInstallConfigDigest: previous.row.digest,
      targetInstallConfigId: target.row.id,
      targetInstallConfigDigest: target.row.digest,
      sourceSnapshotId: target.row.source_snapshot_id
    }
  })

  const create = Effect.gen(function* () {
    const capsule = yield* load
    if (forbiddenMaterial(request.reason) === "secret_material") {
      return yield* invalidRequest("reason: looks like a credential; it is kept in the activity for all to read.")
    }
    if (!(yield* guardHolds(capsule, request.expected.authorityGuard))) return yield* guardMoved()
    if (request.baseInstallConfigId !== capsule.install_config_id) {
      return yield* failedPrecondition("baseInstallConfigId is not the Capsule's current configuration.")
    }
    yield* succession.idle(capsule)
    yield* configs.checkDigest(capsule.install_config_id)
    yield* checkEvidence(capsule)
    const config = yield* configs.load(capsule.install_config_id)
    if (config === undefined) return yield* Effect.die(new Error(`InstallConfig ${capsule.install_config_id} is gone`))
    if (
      config.row.source_snapshot_id !== request.sourceSnapshotId &&
      capsule.adopted_snapshot_id !== request.sourceSnapshotId
    ) {
      return yield* failedPrecondition("sourceSnapshotId is neither the configuration's nor the adopted snapshot.")
    }
    const target = yield* reAdoptionTarget(config, request.sourceSnapshotId)
    const values = { ...(yield* reviewedValues(config, target.config, request)), ...target.operatorValues }
    const requirements = new Set(target.config.rootProviderRequirements.map(requirementKey))
    const targetId = yield* newId(InstallConfigId, "icfg")
    yield* succession.succeed(capsule, {
      id: targetId,
      workspaceId: capsule.workspace_id,
      origin: target.origin,
      modulePath: config.row.module_path,
      sourceSnapshotId: request.sourceSnapshotId,
      compatibilityReportId: target.compatibilityReportId,
      contractDigest: target.contractDigest,
      config: {
        ...target.config,
        variables: marked(target.config.variables, values)
      },
      values,
      bindings: (yield* bindingsOf(config.row.id)).filter((binding) => requirements.has(requirementKey(binding)))
    })
    yield* audit.append({
      workspaceId: capsule.workspace_id,
      actor: context.actor,
      action: "capsule.re_adopt",
      target: { kind: "capsule", id: capsuleId },
      capsuleId,
      data: { previousInstallConfigId: config.row.id, targetInstallConfigId: targetId, reason: request.reason },
      requestId: context.requestId
    })
    return { value: yield* answer(targetId), receipt: { resultId: targetId, firstStatus: 200 } }
  })

  return yield* receipts.once(
    { scope: (yield* load).workspace_id, actor: context.actorKey, route: `capsules.reAdopt ${capsuleId}` },
    idempotency,
    { create, replay: (receipt) => answer(InstallConfigId.make(receipt.resultId)) }
  )
})
