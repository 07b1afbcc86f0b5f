import { Result } from "effect"
import type { DeclaredVariable } from "../../schema/records/InstallConfig.ts"
import type { VariableValues } from "./InstallConfigStore.ts"
import { missingInputs } from "./VariableRules.ts"

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
  declared: ReadonlyArray<DeclaredVariable>,
  current: VariableValues,
  { remove = [], set = {} }: VariablePatch
): Result.Result<VariableValues, string> => {
  for (const [index, name] of remove.entries()) {
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
