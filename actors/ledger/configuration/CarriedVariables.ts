import type { ReportVariable } from "../../../schema/records/CompatibilityReport.ts"
import type { DeclaredVariable } from "../../../schema/records/InstallConfig.ts"
import type { StoredConfig } from "./InstallConfigStore.ts"
import { shownDeclaration } from "../source/ShownDeclaration.ts"

/** The inputs of a commit under a configuration, with the configuration's origins for the inputs it knows. */
export const carriedVariables = (
  config: StoredConfig,
  declared: ReadonlyArray<ReportVariable>
): ReadonlyArray<DeclaredVariable> => {
  const known = new Map(config.variables.map((variable) => [variable.name, variable]))
  return declared.map((variable) => ({
    name: variable.name,
    type: variable.type,
    required: variable.required,
    hasDefault: variable.hasDefault,
    sensitive: variable.sensitive || known.get(variable.name)?.sensitive === true,
    ephemeral: variable.ephemeral,
    ...shownDeclaration(variable, known.get(variable.name)?.sensitive === true),
    origin: known.get(variable.name)?.origin ?? "user",
    set: known.get(variable.name)?.set ?? false
  }))
}
