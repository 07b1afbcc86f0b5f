import { Effect, Result } from "effect"
import type { ConfigurationPlanRequest } from "../../schema/api/CapsulesApi.ts"
import { type ApiError, failedPrecondition, invalidRequest } from "../../schema/errors/ApiError.ts"
import { ConnectionId, InstallConfigId, RunId } from "../../schema/records/Ids.ts"
import { type ProviderBinding, requirementKey } from "../../schema/records/Provider.ts"
import type { CommandContext, IdempotentRequest } from "../../schema/protocol/Command.ts"
import { Audit } from "../audit/Audit.ts"
import { ConnectionStore } from "../connection/ConnectionStore.ts"
import { Receipts } from "../idempotency/Receipts.ts"
import { newId } from "../Identity.ts"
import { patchBlueprints } from "../interface/BlueprintPatch.ts"
import { InterfaceLedger } from "../interface/InterfaceLedger.ts"
import { RunLedger } from "../run/RunLedger.ts"
import { toRun } from "../run/RunRow.ts"
import { SourceStore } from "../source/SourceStore.ts"
import { type GuardedCapsuleRow, guardHolds } from "./CapsuleRow.ts"
import { CapsuleRuns } from "./CapsuleRuns.ts"
import { ConfigSuccession, guardMoved } from "./ConfigSuccession.ts"
import { InstallConfigStore, type LoadedInstallConfig, type VariableValues } from "./InstallConfigStore.ts"
import { InstallPolicy } from "./InstallPolicy.ts"
import { checkValues, governedVariables, marked, missingInputs } from "./VariableRules.ts"

/** Bindings as given: each names a requirement of the module exactly, once, and a Connection of the Workspace. */
export const checkBindings = Effect.fnUntraced(function* (
  workspaceId: string,
  requirements: ReadonlyArray<{
    readonly provider: string
    readonly moduleLocalName: string
    readonly childAlias?: string
  }>,
  bindings: ReadonlyArray<ProviderBinding>
): Effect.fn.Return<void, ApiError, ConnectionStore> {
  const connections = yield* ConnectionStore
  const known = new Set(requirements.map(requirementKey))
  const seen = new Set<string>()
  for (const [index, binding] of bindings.entries()) {
    const key = requirementKey(binding)
    if (!known.has(key)) {
      return yield* invalidRequest(
        `providerBindings[${index}]: the selected module has no such provider requirement; provider, moduleLocalName and childAlias must equal one exactly.`
      )
    }
    if (seen.has(key)) return yield* invalidRequest(`providerBindings[${index}]: this requirement is bound twice.`)
    seen.add(key)
    const connection = yield* connections.find(binding.connectionId)
    const usable =
      connection !== undefined && (connection.scope === "operator" || connection.workspace_id === workspaceId)
    if (!usable || connection.kind !== "provider") {
      return yield* invalidRequest(
        `providerBindings[${index}].connectionId: the Workspace has no such provider Connection.`
      )
    }
  }
})

/** The bindings of a configuration, as a successor takes them over. */
export const bindingsOf = Effect.fnUntraced(function* (installConfigId: string) {
  const configs = yield* InstallConfigStore
  return (yield* configs.bindings(installConfigId)).map((row) => ({
    provider: row.provider,
    moduleLocalName: row.module_local_name,
    ...(row.child_alias === null ? {} : { childAlias: row.child_alias }),
    connectionId: ConnectionId.make(row.connection_id)
  }))
})

const patched = Effect.fnUntraced(function* (config: LoadedInstallConfig, request: ConfigurationPlanRequest) {
  const configs = yield* InstallConfigStore
  const { set = {}, remove = [] } = request.variablePatch ?? {}
  const variables = governedVariables(config.config)
  yield* checkValues("variablePatch.set", variables, set)
  const values: Record<string, VariableValues[string]> = { ...(yield* configs.values(config.row)) }
  for (const [index, name] of remove.entries()) {
    if (Object.hasOwn(set, name)) return yield* invalidRequest(`variablePatch.remove[${index}]: ${name} is also set.`)
    if (!Object.hasOwn(values, name)) {
      return yield* invalidRequest(`variablePatch.remove[${index}]: the configuration sets no such input.`)
    }
    delete values[name]
  }
  Object.assign(values, set)
  const missing = missingInputs(variables, values)
  if (missing.length > 0)
    return yield* invalidRequest(`variablePatch: required inputs would be left without a value: ${missing.join(", ")}.`)
  return values
})

/** Interfaces that the person proposes beside those that the configuration has (spec: Configuration plans). */
const withBlueprints = Effect.fnUntraced(function* (config: LoadedInstallConfig, request: ConfigurationPlanRequest) {
  const { compiled, outputs } = config.config
  if (request.interfaceBlueprints === undefined) return compiled
  if (config.row.origin === "repository_manifest") {
    return yield* invalidRequest("interfaceBlueprints: the Interfaces of this Capsule are those of its manifest.")
  }
  const { policy } = yield* InstallPolicy
  const patched = patchBlueprints(compiled, outputs, request.interfaceBlueprints, policy)
  return Result.isFailure(patched) ? yield* invalidRequest(`interfaceBlueprints: ${patched.failure}`) : patched.success
})

/** New Interfaces are pending from the moment their configuration stands, and usable after its apply. */
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

/** The stored contract must still be what the check of this exact snapshot found; a newer snapshot is never inferred. */
const checkContract = Effect.fnUntraced(function* (config: LoadedInstallConfig) {
  const store = yield* SourceStore
  if (config.row.compatibility_report_id === null) return
  const report = yield* store.findReport(config.row.compatibility_report_id)
  if (report !== undefined && report.contract_digest === config.row.contract_digest) return
  return yield* failedPrecondition(
    "The configuration's contract does not match its compatibility report. Re-adopt the Capsule."
  )
})

/** Patches the private configuration, advances the authority and creates a review-only plan (spec: Configuration plans). */
export const configurationPlan = Effect.fn("Capsule.ConfigurationPlan")(function* (
  capsuleId: string,
  context: CommandContext,
  request: ConfigurationPlanRequest,
  idempotency: IdempotentRequest,
  load: Effect.Effect<GuardedCapsuleRow, ApiError>
) {
  const receipts = yield* Receipts
  const configs = yield* InstallConfigStore
  const succession = yield* ConfigSuccession
  const runs = yield* CapsuleRuns
  const ledger = yield* RunLedger
  const audit = yield* Audit

  const answer = Effect.fnUntraced(function* (runId: string) {
    const row = yield* ledger.find(runId)
    if (row === undefined || row.install_config_id === null) return yield* Effect.die(new Error(`Run ${runId} is gone`))
    return {
      targetInstallConfigId: InstallConfigId.make(row.install_config_id),
      planRunId: RunId.make(row.id),
      run: toRun(row)
    }
  })

  const create = Effect.gen(function* () {
    const capsule = yield* load
    if (!(yield* guardHolds(capsule, request.expected.authorityGuard))) return yield* guardMoved()
    yield* succession.idle(capsule)
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
      // The configuration changes, the deployed revision does not; before a first apply it is the reviewed one.
      sourceSnapshotId: capsule.adopted_snapshot_id ?? config.row.source_snapshot_id ?? undefined,
      trigger: "user",
      createdBy: context.actor.subject
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
    { create, replay: (receipt) => answer(receipt.resultId) }
  )
})
