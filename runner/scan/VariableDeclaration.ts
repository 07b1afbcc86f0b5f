import { Result } from "effect"
import type { Finding } from "../../schema/records/CompatibilityReport.ts"
import type { PlacedAttribute, PlacedBlock } from "./BlockMerge.ts"
import { type ConfigValue, exactJson, literalJson } from "./ConfigValue.ts"
import { DeclarationArguments } from "./DeclarationArguments.ts"
import type { ScannedVariable } from "./ScannedModule.ts"
import { quoted } from "./ScanProblem.ts"
import { acceptsDefault, parseTypeConstraint, type TypeConstraint } from "./TypeConstraint.ts"

/** Names with a special meaning in a module call. */
const reservedNames: ReadonlySet<string> = new Set([
  "source",
  "version",
  "providers",
  "count",
  "for_each",
  "lifecycle",
  "depends_on",
  "locals"
])

const formTypes = { string: "string", number: "number", bool: "boolean" } as const

const formTypeOf = ({ kind }: TypeConstraint): ScannedVariable["type"] =>
  kind === "string" || kind === "number" || kind === "bool" ? formTypes[kind] : "json"

const anyType = { expression: "any", constraint: { kind: "any" } } as const

const readType = (args: DeclarationArguments): { readonly expression: string; readonly constraint: TypeConstraint } => {
  const attribute = args.get("type")
  if (attribute === undefined) return anyType
  const { value } = attribute
  if (value.kind === "string" && attribute.syntax === "hcl") {
    args.refuse(
      "quoted_type",
      `The type is in quotes, as in old versions of the language. Write it without: type = ${value.value.slice(0, 50)}`,
      attribute
    )
    return anyType
  }
  const isTemplate = value.kind === "expression" && value.plain?.startsWith("${") === true
  if (isTemplate || (value.kind !== "expression" && value.kind !== "string")) {
    args.refuse("invalid_type", "The type is not a type expression.", attribute)
    return anyType
  }
  const expression = (value.kind === "expression" ? value.text : value.value).trim()
  const constraint = parseTypeConstraint(expression)
  if (Result.isSuccess(constraint)) return { expression, constraint: constraint.success }
  args.refuse("invalid_type", `The type cannot be read: ${constraint.failure}`, attribute)
  return { expression, constraint: anyType.constraint }
}

/** The default, converted to a primitive type like in the tool. */
const converted = (value: ConfigValue, type: TypeConstraint): ConfigValue => {
  if (type.kind === "string") {
    if (value.kind === "boolean") return { kind: "string", value: String(value.value) }
    if (value.kind === "number") return { kind: "string", value: value.text }
  }
  if (type.kind === "bool" && value.kind === "string") {
    return { kind: "boolean", value: value.value === "true" || value.value === "1" }
  }
  const plainNumber = /^(?:0|[1-9]\d{0,99})(?:\.\d{1,100})?$/
  if (type.kind === "number" && value.kind === "string" && plainNumber.test(value.value)) {
    return { kind: "number", text: value.value }
  }
  return value
}

const readDefault = (attribute: PlacedAttribute, type: TypeConstraint, args: DeclarationArguments) => {
  if (!acceptsDefault(type, attribute.value)) {
    args.refuse("default_type_mismatch", "The default cannot become a value of the variable's type.", attribute)
    return {}
  }
  const literal = literalJson(converted(attribute.value, type))
  if (literal === undefined) return {}
  return literal.exact ? { default: exactJson(literal.text), defaultJson: literal.text } : { defaultJson: literal.text }
}

/** Reads a `variable` block. A default that must not be shown is omitted; its existence is always reported. */
export const readVariable = (
  block: PlacedBlock
): { readonly variable: ScannedVariable; readonly findings: ReadonlyArray<Finding> } => {
  const args = new DeclarationArguments(block)
  const name = block.labels[0] ?? ""
  if (reservedNames.has(name)) args.refuse("reserved_name", `A variable cannot be called ${quoted(name)}.`)
  const { expression, constraint } = readType(args)
  const sensitive = args.boolean("sensitive", false, true)
  const ephemeral = args.boolean("ephemeral", false, true)
  const nullable = args.boolean("nullable", true, true)
  const description = args.text("description")
  const attribute = args.get("default")
  if (!nullable && attribute?.value.kind === "null") {
    args.refuse("default_type_mismatch", "The default is null, but the variable is not nullable.", attribute)
  }
  const shown = attribute === undefined ? {} : readDefault(attribute, constraint, args)
  return {
    variable: {
      name,
      type: formTypeOf(constraint),
      typeExpression: expression,
      required: attribute === undefined,
      hasDefault: attribute !== undefined,
      ...(sensitive || ephemeral ? {} : shown),
      sensitive,
      ephemeral,
      nullable,
      ...(description === undefined ? {} : { description }),
      location: block.location
    },
    findings: args.findings
  }
}
