import { Effect } from "effect"
import { type CompatibilityReport, type Finding, needAttention } from "../../../schema/records/CompatibilityReport.ts"
import type { InstallConfigId } from "../../../schema/records/Ids.ts"
import type { DeclaredVariable } from "../../../schema/records/InstallConfig.ts"
import { requirementKey } from "../../../schema/records/Provider.ts"
import { SettingsJson } from "../../inputs/connection/ConnectionRow.ts"
import { checkTarget, deliveryTargets } from "../../inputs/delivery/DeliveredVariables.ts"
import { injectingDependencies } from "../../ledger/consumption/InjectingDependencies.ts"
import type { StagedReport } from "../../ledger/source/StagedFindings.ts"
import {
  carriedVariables,
  InstallConfigStore,
  type LoadedInstallConfig
} from "../../ledger/configuration/InstallConfigStore.ts"
import { bindingsOf } from "../../ledger/configuration/StoredBindings.ts"
import { type InputGivers, inputSource } from "../../ledger/configuration/InputSource.ts"
import { resolveProviders } from "./ProviderResolutions.ts"
import { provided } from "../../base/Provided.ts"

type Module = Pick<CompatibilityReport, "modulePath" | "rootProviderRequirements" | "variables">

const finding = (severity: "info" | "warning", code: string, message: string): Finding => ({ severity, code, message })

/** Describes those differences between two declarations of an input that affect the input's value. */
const changesOf = (before: DeclaredVariable, after: DeclaredVariable, valueIsSet: boolean): ReadonlyArray<Finding> => {
  const { name } = before
  const found: Array<Finding> = []
  if (before.type !== after.type) {
    const message = `The input ${name} was a ${before.type} and is a ${after.type} now. Give it a value of the new type.`
    found.push(finding("warning", "configuration_input_type_changed", message))
  }
  if (valueIsSet && after.sensitive && !before.sensitive) {
    const message = `The input ${name} is sensitive now. Its current value was not secret before and is contained in earlier plans and states: consider a new value.`
    found.push(finding("warning", "configuration_input_sensitive", message))
  }
  if (after.ephemeral && !before.ephemeral) {
    const message = `The input ${name} is ephemeral now: its value is given to plan and apply and kept in neither plan nor state.`
    found.push(finding("warning", "configuration_input_ephemeral", message))
  }
  if (!after.ephemeral && before.ephemeral) {
    const message = `The input ${name} is ephemeral no longer: its value is kept in plan and state from now on.`
    found.push(finding("warning", "configuration_input_ephemeral", message))
  }
  return found
}

/**
 * Returns findings for inputs that the module declares but the configuration lacks. The findings contain only names; values
 * are not read.
 */
const inputFindings = (
  { config }: LoadedInstallConfig,
  module: Module,
  givers: InputGivers
): ReadonlyArray<Finding> => {
  const found: Array<Finding> = []
  const delivered = deliveryTargets(config.compiled.requires)
  const carried = new Map(carriedVariables(config, module.variables).map((variable) => [variable.name, variable]))
  for (const [name, type] of delivered) {
    const problem = checkTarget(name, type, carried)
    if (problem !== undefined) found.push(finding("warning", problem.code, problem.message))
  }
  const known = new Map(config.variables.map((variable) => [variable.name, variable]))
  for (const after of carried.values()) {
    if (delivered.has(after.name)) continue
    const source = inputSource(after, givers)
    if (source === "missing") {
      const message = `The required input ${after.name} has no value in the configuration, so a plan would fail. Set it with a configuration plan.`
      found.push(finding("warning", "configuration_input_missing", message))
      continue
    }
    const before = known.get(after.name)
    if (source !== "module" && before !== undefined) found.push(...changesOf(before, after, source === "value"))
  }
  for (const { name } of config.variables) {
    if (carried.has(name) || delivered.has(name)) continue
    const who = givers.dependencies.has(name) ? "A dependency fills" : "The configuration sets"
    if (who === "The configuration sets" && !givers.values.has(name)) continue
    const message = `${who} ${name}, which the module declares no longer. Its value would be left out.`
    found.push(finding("warning", "configuration_input_removed", message))
  }
  return found
}

/**
 * Compares a checked module with the configuration that the caller intends to use, and adds the findings to the report. Applies
 * the same rules as a plan. Every decision that a person must make becomes a warning, so the report is marked as needing
 * attention. An unsupported module remains unsupported with any configuration.
 */
export const makeConfigurationFit = Effect.gen(function* () {
  const configs = yield* InstallConfigStore

  const findingsOf = yield* provided(
    Effect.fnUntraced(function* (loaded: LoadedInstallConfig, module: Module) {
      const { row, config } = loaded
      const { resolutions, used } = yield* resolveProviders(row.workspace_id, row.id, module.rootProviderRequirements)
      const defaults = used.map(({ row: connection }) => SettingsJson.read(connection.module_input_defaults))
      const dependencies = row.capsule_id === null ? [] : yield* injectingDependencies(row.capsule_id)
      const found: Array<Finding> = []
      if (row.module_path !== module.modulePath) {
        const message = `The configuration is one of the module ${row.module_path}, and was compared with ${module.modulePath}.`
        found.push(finding("info", "configuration_of_other_module", message))
      }
      found.push(
        ...inputFindings(loaded, module, {
          dependencies: new Set(dependencies.flatMap(({ wanted }) => wanted.map(({ to }) => to))),
          values: new Set(config.variables.filter(({ set }) => set).map(({ name }) => name)),
          connections: new Set(defaults.flatMap(Object.keys))
        })
      )
      for (const { blockedReason, provider, status } of resolutions) {
        if (status === "resolved_provider_connection") continue
        const message = `${provider}: ${blockedReason ?? "no Connection"} A plan would fail until one is bound with a configuration plan.`
        found.push(finding("warning", "configuration_provider_unbound", message))
      }
      const required = new Set(module.rootProviderRequirements.map(requirementKey))
      for (const binding of yield* bindingsOf(row.id)) {
        if (required.has(requirementKey(binding))) continue
        const place = `${binding.moduleLocalName}${binding.childAlias === undefined ? "" : `.${binding.childAlias}`}`
        const message = `The configuration binds ${place} (${binding.provider}), which the module requires no longer.`
        found.push(finding("info", "configuration_binding_unused", message))
      }
      return found
    })
  )

  return Effect.fn("Run.configurationFit")(function* (staged: StagedReport, installConfigId: InstallConfigId) {
    const { report } = staged
    if (report.status === "unsupported") return staged
    const loaded = yield* configs.load(installConfigId)
    if (loaded === undefined) return yield* Effect.die(new Error(`InstallConfig ${installConfigId} is gone`))
    const found = yield* findingsOf(loaded, report)
    const status = needAttention(found) ? ("needs_attention" as const) : report.status
    return { ...staged, report: { ...report, status, findings: [...report.findings, ...found] } }
  })
})
