import { Effect, Result, type Schema } from "effect"
import { holdsRedactionSentinel } from "../../../runner/redaction/RedactionMark.ts"
import { budgetProblem } from "../../../runner/redaction/SecretBudget.ts"
import { hidingProblem, type Secret, valueSecrets } from "../../../runner/redaction/SecretRule.ts"
import { type ApiError, invalidRequest } from "../../../schema/errors/ApiError.ts"
import { privateValuesLimits } from "../../../schema/json/JsonLimits.ts"
import { exceedsJsonLimits, type JsonValueExcess } from "../../../schema/json/JsonValueBounds.ts"
import type { DeclaredVariable } from "../../../schema/records/InstallConfig.ts"
import type { StoredConfig, VariableValues } from "./InstallConfigStore.ts"

/**
 * Returns true for an integer outside the range in which JSON numbers are exact, because nobody can know which number was
 * intended.
 */
const isRounded = (value: Schema.Json): boolean =>
  typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)

/** Returns true if a value contains a number that `isRounded` reports. */
export const holdsRoundedNumber = (root: Schema.Json): boolean =>
  typeof root === "object" && root !== null ? Object.values(root).some(holdsRoundedNumber) : isRounded(root)

/**
 * Matches a number, written as a string, with more digits than JSON parsers preserve. The tool reads up to 150 digits exactly.
 */
const longNumber = /^(?=(?:\D*\d){16,150}\D*$)-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/

const excesses: Readonly<Record<JsonValueExcess, string>> = {
  too_deep: `is nested deeper than ${privateValuesLimits.maxDepth} levels`,
  too_many_nodes: `holds more than ${privateValuesLimits.maxNodes} values`,
  key_too_long: `holds a key longer than ${privateValuesLimits.maxKeyBytes} bytes`,
  string_too_long: `holds a text longer than ${privateValuesLimits.maxStringBytes} bytes`
}

/**
 * Returns the reason why private values exceed their limits (specification, Limits). Checked before the values are digested or
 * scanned.
 */
const boundsProblem = (values: Schema.Json): string | undefined => {
  const excess = exceedsJsonLimits(values, privateValuesLimits)
  if (excess !== undefined) return excesses[excess]
  return holdsRoundedNumber(values)
    ? "holds a whole number beyond 9007199254740991, which JSON does not carry exactly; write it as a string of digits"
    : undefined
}

/** Returns true if a value has the basic type of an input. `null` is valid for every type. */
export const fits = (type: DeclaredVariable["type"], value: Schema.Json): boolean => {
  if (value === null) return true
  switch (type) {
    case "string":
      return typeof value === "string"
    case "number":
      return typeof value === "number" || (typeof value === "string" && longNumber.test(value))
    case "boolean":
      return typeof value === "boolean"
    case "json":
      return true
  }
}

/** Fails if the values exceed their limits. Call it before any other check. */
export const checkBounds = (field: string, values: Schema.Json): Effect.Effect<void, ApiError> => {
  const problem = boundsProblem(values)
  return problem === undefined ? Effect.void : Effect.fail(invalidRequest(`${field}: ${problem}.`))
}

/**
 * A variable and the origin that controls its value. `undeclared`: the manifest does not declare the variable, so nobody may
 * set it.
 */
export type GovernedVariable = Omit<DeclaredVariable, "origin"> & {
  readonly origin: DeclaredVariable["origin"] | "undeclared"
}

/** Returns true if a dependency may fill the variable: the variable is neither host-delivered nor derived. */
export const isFillable = ({ origin }: GovernedVariable): boolean =>
  origin === "user" || origin === "module_default" || origin === "undeclared"

const manifestInputs = ({ inputs }: StoredConfig["compiled"]): ReadonlySet<string> =>
  new Set(inputs.filter(({ origin }) => origin === "manifest").map(({ name }) => name))

/**
 * Returns the variables that a person may set during an install. With a manifest, these are the manifest's user inputs and
 * the required variables that the manifest omits. Configurations from earlier releases marked all other variables as user
 * inputs too.
 */
export const governedVariables = ({
  compiled,
  variables
}: Pick<StoredConfig, "compiled" | "variables">): ReadonlyArray<DeclaredVariable> => {
  if (compiled.origin !== "repository_manifest") return variables
  const mentioned = manifestInputs(compiled)
  return variables.map((variable) =>
    variable.origin === "user" && !variable.required && !mentioned.has(variable.name)
      ? { ...variable, origin: "module_default" as const }
      : variable
  )
}

/**
 * Returns the variables that a person may set in a configuration plan or re-adoption. With a manifest, these are only the
 * manifest's user inputs (specification, Configuration plans).
 */
export const changeableVariables = ({
  compiled,
  variables
}: Pick<StoredConfig, "compiled" | "variables">): ReadonlyArray<GovernedVariable> => {
  if (compiled.origin !== "repository_manifest") return variables
  const mentioned = manifestInputs(compiled)
  return variables.map((variable) =>
    isFillable(variable) && !mentioned.has(variable.name) ? { ...variable, origin: "undeclared" as const } : variable
  )
}

/** Returns the reason why a person may not set a variable, or `undefined` if they may. */
export const notTheirs = ({ origin }: GovernedVariable): string | undefined => {
  switch (origin) {
    case "user":
      return undefined
    case "operator":
      return "the operator sets this input"
    case "undeclared":
      return "the manifest of this commit does not declare this input; commit a manifest that declares it"
    case "module_default":
      return "the manifest does not offer this input, so the module's own default holds"
    default:
      return "the service fills this input itself"
  }
}

/** Adds to each variable a flag that is true if the variable has a value. */
export const marked = (
  variables: ReadonlyArray<DeclaredVariable>,
  values: VariableValues
): ReadonlyArray<DeclaredVariable> =>
  variables.map((variable) => ({ ...variable, set: Object.hasOwn(values, variable.name) }))

/**
 * Checks values against the declared inputs: the names must be known, the types must match, svc must not fill the input
 * itself, and no value may contain a redaction mark or be a secret that is too short to redact. Fails with
 * `invalid_request`; the error contains the variable's name, never its value.
 */
export const checkValues = Effect.fnUntraced(function* (
  field: string,
  declared: ReadonlyArray<GovernedVariable>,
  values: VariableValues
): Effect.fn.Return<void, ApiError> {
  yield* checkBounds(field, values)
  const known = new Map(declared.map((variable) => [variable.name, variable]))
  const secrets: Array<Secret> = []
  for (const [name, value] of Object.entries(values)) {
    const variable = known.get(name)
    if (variable === undefined) return yield* invalidRequest(`${field}.${name}: the module declares no such input.`)
    const refusal = notTheirs(variable)
    if (refusal !== undefined) return yield* invalidRequest(`${field}.${name}: ${refusal}.`)
    if (!fits(variable.type, value)) return yield* invalidRequest(`${field}.${name}: expected a ${variable.type}.`)
    if (holdsRedactionSentinel(value)) {
      return yield* invalidRequest(
        `${field}.${name}: holds the redaction mark; give the real value or leave the input out.`
      )
    }
    if (!variable.sensitive) continue
    const problem = typeof value === "string" || typeof value === "number" ? hidingProblem(String(value)) : undefined
    if (problem !== undefined) return yield* invalidRequest(`${field}.${name}: ${problem}.`)
    secrets.push(...valueSecrets(name, value))
  }
  const problem = budgetProblem(secrets)
  if (problem !== undefined) return yield* invalidRequest(`${field}: the secret inputs ${problem}.`)
})

/** Returns the required inputs that have no value. */
export const missingInputs = (
  declared: ReadonlyArray<GovernedVariable>,
  values: VariableValues
): ReadonlyArray<string> =>
  declared
    .filter((variable) => variable.required && variable.origin === "user" && !Object.hasOwn(values, variable.name))
    .map((variable) => variable.name)

/** Values to set, and variables to reset to the module's defaults. */
export interface VariablePatch {
  readonly set?: VariableValues | undefined
  readonly remove?: ReadonlyArray<string> | undefined
}

/**
 * Applies a patch to a configuration's values. The new values must already match the declarations. Fails if the patch is invalid.
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
