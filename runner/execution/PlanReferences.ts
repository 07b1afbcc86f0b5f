import type { Schema } from "effect"
import type { ChangeReferences } from "../../schema/records/ChangeEvidence.ts"
import type { PlannedBlock, PlannedModule } from "./PlanDocument.ts"

/**
 * Maximum number of names to list. A longer list would explain nothing, so if there are more names, the references are
 * reported as partially known.
 */
const mostNames = 50

/** A module in the configuration, and the module that calls it. */
interface Place {
  /** Address prefix, which ends with a dot. Empty for the root module. */
  readonly prefix: string
  readonly module: PlannedModule
  readonly caller: { readonly place: Place; readonly call: Omit<PlannedBlock, "address"> } | undefined
}

interface Found {
  readonly inputs: Set<string>
  readonly resources: Set<string>
  partial: boolean
  /**
   * References that have already been followed. Without this set, nested modules with shared references would have
   * exponentially many paths.
   */
  readonly seen: Set<string>
}

const emptyFound = (): Found => ({ inputs: new Set(), resources: new Set(), partial: false, seen: new Set() })

/** Returns the address in the configuration, which has no instance keys. An instance key may contain any quoted string. */
export const configurationAddress = (address: string): string =>
  address.replaceAll(/\[(?:\d+|"(?:[^"\\]|\\.)*")\]/g, "")

const isObject = (value: Schema.Json | undefined | null): value is Schema.JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isTexts = (value: Schema.Json | undefined): value is ReadonlyArray<string> =>
  Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === "string")

/** Returns the references in an expression, or in nested blocks of expressions. */
const referencesIn = (expression: Schema.Json | undefined | null): ReadonlyArray<string> => {
  if (Array.isArray(expression)) return expression.flatMap(referencesIn)
  if (!isObject(expression)) return []
  if (isTexts(expression["references"])) return expression["references"]
  if (Object.hasOwn(expression, "constant_value")) return []
  return Object.values(expression).flatMap(referencesIn)
}

/**
 * Returns true if an expression is literal. In the tool's JSON, a function call without references has neither a value nor
 * references.
 */
const isLiteral = (expression: Schema.Json | undefined | null): boolean => {
  if (Array.isArray(expression)) return expression.every(isLiteral)
  if (!isObject(expression)) return false
  if (Object.hasOwn(expression, "constant_value")) return true
  const inner = Object.values(expression)
  return inner.length > 0 && inner.every(isLiteral)
}

/** Returns true for blocks, as opposed to expressions. The tool omits blocks that the module repeats with `dynamic`. */
const isBlock = (expression: Schema.Json) =>
  Array.isArray(expression) ||
  (isObject(expression) &&
    !Object.hasOwn(expression, "constant_value") &&
    !isTexts(expression["references"]) &&
    Object.keys(expression).length > 0)

const constants = new Set(["path", "terraform", "tofu", "self"])
const repetition = ({ count_expression, for_each_expression }: Omit<PlannedBlock, "address">) => [
  ...referencesIn(count_expression),
  ...referencesIn(for_each_expression)
]

const followAll = (
  place: Place,
  block: Omit<PlannedBlock, "address"> | undefined,
  texts: ReadonlyArray<string>,
  found: Found
) => {
  for (const text of texts) follow(place, block, configurationAddress(text), found)
}

const followOutputs = (place: Place, name: string, output: string | undefined, found: Found) => {
  const call = place.module.module_calls?.[name]
  // The tool lists both the module and its output. Keep only the output, which identifies the value.
  if (output === undefined) return
  const expression = call?.module?.outputs?.[output]?.expression
  if (call === undefined || !call.module || expression === undefined) {
    found.partial = true
    return
  }
  const inner: Place = {
    prefix: `${place.prefix}module.${name}.`,
    module: call.module,
    caller: { place, call }
  }
  followAll(inner, undefined, referencesIn(expression), found)
}

const followVariable = ({ caller }: Place, name: string, found: Found) => {
  if (caller === undefined) {
    found.inputs.add(name)
    return
  }
  const { expressions } = caller.call
  const given = isObject(expressions) ? expressions[name] : undefined
  // The caller does not set the variable, so the default applies and no input affects the variable.
  if (given !== undefined) followAll(caller.place, caller.call, referencesIn(given), found)
}

function follow(place: Place, block: Omit<PlannedBlock, "address"> | undefined, text: string, found: Found): void {
  const key = `${place.prefix} ${text}`
  if (found.seen.has(key)) return
  found.seen.add(key)
  const [first = "", second, third] = text.split(".")
  if (constants.has(first) || second === undefined) {
    found.partial ||= second === undefined && !constants.has(first)
  } else if (first === "var") followVariable(place, second, found)
  else if (first === "module") followOutputs(place, second, third, found)
  else if (first === "each" || first === "count") {
    if (block === undefined) found.partial = true
    else followAll(place, undefined, repetition(block), found)
  } else if (first === "local") found.partial = true
  else if (first === "data" || first === "ephemeral") {
    if (third !== undefined) found.resources.add(`${place.prefix}${first}.${second}.${third}`)
  } else found.resources.add(`${place.prefix}${first}.${second}`)
}

const result = (attribute: string | undefined, found: Found, literal: boolean): ChangeReferences => {
  const inputs = [...found.inputs].toSorted()
  const resources = [...found.resources].toSorted()
  const partial = found.partial || inputs.length > mostNames || resources.length > mostNames
  return {
    ...(attribute === undefined ? {} : { attribute }),
    ...(inputs.length === 0 ? {} : { inputs: inputs.slice(0, mostNames) }),
    ...(resources.length === 0 ? {} : { resources: resources.slice(0, mostNames) }),
    ...(partial ? { partial: true } : {}),
    ...(literal ? { literal: true } : {})
  }
}

const blocksOf = (root: PlannedModule) => {
  const blocks = new Map<string, { readonly place: Place; readonly block: PlannedBlock }>()
  const add = (place: Place) => {
    for (const block of place.module.resources ?? []) blocks.set(`${place.prefix}${block.address}`, { place, block })
    for (const [name, call] of Object.entries(place.module.module_calls ?? {})) {
      if (!call.module) continue
      add({ prefix: `${place.prefix}module.${name}.`, module: call.module, caller: { place, call } })
    }
  }
  add({ prefix: "", module: root, caller: undefined })
  return blocks
}

/**
 * Returns the references that determine the number of instances: the references in `count` or `for_each` of the resource
 * itself and of each module that contains the resource.
 */
const repetitionOf = (place: Place, block: PlannedBlock): ChangeReferences | undefined => {
  const found = emptyFound()
  let isRepeated = false
  const add = (at: Place, of: Omit<PlannedBlock, "address">) => {
    isRepeated ||= isObject(of.count_expression) || isObject(of.for_each_expression)
    followAll(at, undefined, repetition(of), found)
  }
  add(place, block)
  for (let at = place; at.caller !== undefined; at = at.caller.place) add(at.caller.place, at.caller.call)
  return isRepeated ? result(undefined, found, false) : undefined
}

/**
 * Returns the inputs from which a resource's changed attributes are computed, according to the configuration in the tool's plan.
 * Attributes that are not in the configuration have no entry, because the provider computes them.
 */
export const planReferences = (root: PlannedModule | undefined) => {
  const blocks = root === undefined ? undefined : blocksOf(root)
  return (address: string, attributes: ReadonlyArray<string>): ReadonlyArray<ChangeReferences> | undefined => {
    const known = blocks?.get(configurationAddress(address))
    if (known === undefined) return undefined
    const { block, place } = known
    const repeated = repetitionOf(place, block)
    const { expressions } = block
    return [
      ...(repeated === undefined ? [] : [repeated]),
      ...attributes.flatMap((attribute) => {
        const expression = isObject(expressions) ? expressions[attribute] : undefined
        if (expression === undefined) return []
        const found = emptyFound()
        followAll(place, block, referencesIn(expression), found)
        found.partial ||= isBlock(expression)
        return [result(attribute, found, isLiteral(expression))]
      })
    ]
  }
}
