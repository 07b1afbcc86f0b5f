import { Result } from "effect"
import type { VariableValues } from "./InstallConfigStore.ts"
import { type GovernedVariable, missingInputs, notTheirs } from "./VariableRules.ts"

/** Values to set, and names whose values are removed so that the module's defaults apply again. */
export interface VariablePatch {
  readonly set?: VariableValues | undefined
  readonly remove?: ReadonlyArray<string> | undefined
}

/**
 * A configuration's values after a patch, or what is wrong with the patch. The new values have been checked against the
 * declarations.
 */
export const patchedValues = (
  declared: ReadonlyArray<GovernedVariable>,
  current: VariableValues,
  { remove = [], set = {} }: VariablePatch
): Result.Result<VariableValues, string> => {
  const known = new Map(declared.map((variable) => [variable.name, variable]))
  for (const [index, name] of remove.entries()) {
    const variable = known.get(name)
    const refusal = variable === undefined ? undefined : notTheirs(variable)
    if (refusal !== undefined) return Result.fail(`variablePatch.remove[${index}]: ${refusal}.`)
    if (Object.hasOwn(set, name)) return Result.fail(`variablePatch.remove[${index}]: ${name} is also set.`)
    if (!Object.hasOwn(current, name) || remove.indexOf(name) < index) {
      return Result.fail(`variablePatch.remove[${index}]: the configuration sets no such input.`)
    }
  }
  const kept = Object.entries(current).filter(([name]) => !remove.includes(name))
  const values = Object.fromEntries([...kept, ...Object.entries(set)])
  const missing = missingInputs(declared, values)
  return missing.length > 0
    ? Result.fail(`variablePatch: required inputs would be left without a value: ${missing.join(", ")}.`)
    : Result.succeed(values)
}
