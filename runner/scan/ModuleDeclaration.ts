import type { Finding } from "../../schema/records/CompatibilityReport.ts"
import type { ToolName } from "../toolchain/Tool.ts"
import { mergeBlocks, type PlacedAttribute, type PlacedBlock, type ReadFile } from "./BlockMerge.ts"
import { readAddresses } from "./ModuleAddresses.ts"
import { type ModuleCallDeclaration, readModuleCall } from "./ModuleCallDeclaration.ts"
import type { ModuleAddresses, ScannedOutput, ScannedVariable, ToolConstraint } from "./ScannedModule.ts"
import { locate, notice, quoted, refusal } from "./ScanProblem.ts"
import { DeclarationArguments } from "./DeclarationArguments.ts"
import { Result } from "effect"
import { type ConfigValue, exactJson, literalJson } from "./ConfigValue.ts"
import { acceptsDefault, parseTypeConstraint, type TypeConstraint } from "./TypeConstraint.ts"
import { parseVersionConstraint, prereleaseIn } from "./VersionConstraint.ts"
import { type ModuleProviders, readProviders } from "./ProviderDeclarations.ts"

/**
 * Features that only some versions of a tool support, with the first such version, or `null` if a tool does not support the
 * feature at all.
 */
const newerBlocks: ReadonlyMap<string, Pick<ToolConstraint, "opentofu" | "terraform">> = new Map([
  ["language", { opentofu: [">= 1.12"], terraform: null }],
  ["action", { opentofu: null, terraform: [">= 1.14"] }],
  ["ephemeral", { opentofu: [">= 1.11"], terraform: [">= 1.10"] }]
])

const namesInstance = (value: ConfigValue): boolean =>
  value.kind === "object"
    ? [...value.entries.values()].some(namesInstance)
    : (value.kind === "expression" || value.kind === "string") &&
      (value.kind === "string" ? value.value : value.text).includes("[")

/** The edition of the language. No other edition exists. */
const knownEdition = "tofu2024"

/** Tool requirements of the blocks in one folder. */
interface ModuleToolConstraints {
  readonly requiredVersion: ReadonlyArray<string>
  readonly constraints: ReadonlyArray<ToolConstraint>
  readonly findings: ReadonlyArray<Finding>
}

class ConstraintReader {
  readonly requiredVersion: Array<string> = []
  readonly constraints: Array<ToolConstraint> = []
  readonly findings: Array<Finding> = []
  readonly #features = new Set<string>()

  #refuse(code: string, message: string, { path, line }: PlacedBlock["location"]) {
    this.findings.push(locate(refusal(code, message, line), path))
  }

  #constraint(name: string, { location, value }: PlacedAttribute): ReadonlyArray<string> | undefined {
    const constraints =
      value.kind === "string"
        ? parseVersionConstraint(value.value)
        : Result.fail("it must be plain text, without anything to evaluate")
    if (Result.isSuccess(constraints)) return constraints.success
    this.#refuse("invalid_version_constraint", `${name} cannot be read: ${constraints.failure}.`, location)
    return undefined
  }

  /**
   * Removes prereleases from a constraint, because no tool supports prereleases in this constraint. A prerelease of a tool
   * is treated as the version that it precedes.
   */
  #withoutPrerelease(name: string, attribute: PlacedAttribute): ReadonlyArray<string> | undefined {
    const constraints = this.#constraint(name, attribute)
    const named = prereleaseIn(constraints ?? [])
    if (named === undefined) return constraints
    this.#refuse(
      "prerelease_constraint",
      `${name} contains a prerelease (${named}), which no tool supports here. Remove the suffix: a prerelease of a tool counts as the version that it precedes.`,
      attribute.location
    )
    return undefined
  }

  #feature(key: string, constraint: ToolConstraint) {
    if (this.#features.has(key)) return
    this.#features.add(key)
    this.constraints.push(constraint)
  }

  /** Records that a provider uses `for_each`, or that a reference selects one instance of a provider. */
  #providerInstances({ attributes, type }: PlacedBlock) {
    const since = { opentofu: [">= 1.9"], terraform: null }
    const forEach = type === "provider" ? attributes.get("for_each") : undefined
    if (forEach !== undefined) {
      this.#feature("provider for_each", {
        what: 'The argument "for_each" of a provider',
        ...since,
        location: forEach.location
      })
    }
    for (const name of ["provider", "providers"]) {
      const attribute = attributes.get(name)
      if (attribute === undefined || !namesInstance(attribute.value)) continue
      this.#feature("provider instance", {
        what: "A reference to one instance of a provider",
        ...since,
        location: attribute.location
      })
    }
  }

  #edition({ location, value }: PlacedAttribute) {
    const text = value.kind === "string" ? value.value : value.kind === "expression" ? value.text.trim() : ""
    if (text === knownEdition) return
    this.#refuse(
      "unknown_language_edition",
      `The language edition ${quoted(text)} is not known; ${knownEdition} is. Leave the argument out.`,
      location
    )
  }

  read(block: PlacedBlock) {
    const { attributes, location, type } = block
    const since = newerBlocks.get(type)
    if (since !== undefined) this.#feature(type, { what: `The block ${quoted(type)}`, ...since, location })
    this.#providerInstances(block)
    const required = type === "terraform" ? attributes.get("required_version") : undefined
    if (required !== undefined && required.value.kind !== "null") {
      const versions = this.#withoutPrerelease("required_version", required)
      if (versions !== undefined) {
        this.requiredVersion.push(...versions)
        this.constraints.push({
          what: "required_version",
          opentofu: versions,
          terraform: versions,
          location: required.location
        })
      }
    }
    const compatible = type === "compatible_with" ? attributes.get("opentofu") : undefined
    if (compatible !== undefined) {
      const versions = this.#withoutPrerelease("compatible_with", compatible)
      if (versions !== undefined) {
        this.constraints.push({
          what: "compatible_with",
          opentofu: versions,
          terraform: [],
          location: compatible.location
        })
      }
    }
    const edition = type === "language" ? attributes.get("edition") : undefined
    if (edition !== undefined) this.#edition(edition)
  }
}

/** Reads the tool requirements of the blocks in one folder. */
const readToolConstraints = (blocks: ReadonlyArray<PlacedBlock>): ModuleToolConstraints => {
  const reader = new ConstraintReader()
  for (const block of blocks) reader.read(block)
  return reader
}

/** Argument names with a special meaning in a module call, which a variable therefore must not have. */
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

/** Converts a default to a primitive type, as the tool does. */
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

/** Reads a `variable` block. Omits a default that must not be shown, but always reports that a default exists. */
const readVariable = (
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

const readOutput = (
  block: PlacedBlock
): { readonly output: ScannedOutput; readonly findings: ReadonlyArray<Finding> } => {
  const args = new DeclarationArguments(block)
  const description = args.text("description")
  const output = {
    name: block.labels[0] ?? "",
    sensitive: args.boolean("sensitive", false, true),
    ephemeral: args.boolean("ephemeral", false, true),
    ...(description === undefined ? {} : { description }),
    location: block.location
  }
  return { output, findings: args.findings }
}

/**
 * The declarations in the files of one folder, before the scan has followed its module calls.
 *
 * - `findings`: apply to every module that reaches this module
 * - `rootFindings`: apply only if this module itself is installed
 * - `readAs`: the tool whose files were read; absent if the folder is the same for every tool
 */
export interface ModuleDeclaration {
  readonly path: string
  readonly variables: ReadonlyArray<ScannedVariable>
  readonly outputs: ReadonlyArray<ScannedOutput>
  readonly providers: ModuleProviders
  readonly calls: ReadonlyArray<ModuleCallDeclaration>
  readonly addresses: ModuleAddresses
  readonly requiredVersion: ReadonlyArray<string>
  readonly toolConstraints: ReadonlyArray<ToolConstraint>
  readonly findings: ReadonlyArray<Finding>
  readonly rootFindings: ReadonlyArray<Finding>
  readonly readAs?: ToolName
}

const byName = (left: { readonly name: string }, right: { readonly name: string }) =>
  left.name < right.name ? -1 : left.name > right.name ? 1 : 0

const ephemeralAtRoot = ({ ephemeral, location, name }: ScannedOutput): ReadonlyArray<Finding> => {
  const message = `The output ${quoted(name)} is ephemeral, which only the outputs of called modules may be.`
  return ephemeral ? [locate(refusal("ephemeral_root_output", message, location.line), location.path)] : []
}

/** Reports blocks that change where the state is stored. */
const stateFindings = (blocks: ReadonlyArray<PlacedBlock>) => {
  const findings: Array<Finding> = []
  const rootFindings: Array<Finding> = []
  for (const { type, attributes, location } of blocks) {
    const { path, line } = location
    if (type === "backend" || type === "cloud") {
      rootFindings.push(
        locate(
          notice(
            "info",
            `${type}_overridden`,
            `The ${type} block has no effect here: the service keeps the state.`,
            line
          ),
          path
        )
      )
    }
    if (type === "encryption") {
      findings.push(
        locate(
          refusal(
            "state_encryption",
            "The module encrypts its own state, so the service could neither check nor keep it. Remove the block: the service encrypts state itself.",
            line
          ),
          path
        )
      )
    }
    const experiments = attributes.get("experiments")
    if ((type === "terraform" || type === "language") && experiments !== undefined) {
      const message =
        "The module uses experimental language features, which may change or vanish with any version of the tool."
      findings.push(
        locate(notice("warning", "experiments", message, experiments.location.line), experiments.location.path)
      )
    }
  }
  return { findings, rootFindings }
}

/** Combines the declarations in the files of one folder. `files` must be in the order in which the tool applies them. */
export const declareModule = (
  path: string,
  files: ReadonlyArray<ReadFile>,
  fileFindings: ReadonlyArray<Finding>,
  fileRootFindings: ReadonlyArray<Finding>
): ModuleDeclaration => {
  const { blocks, findings: mergeFindings } = mergeBlocks(files)
  const findings = [...fileFindings, ...mergeFindings]
  const ofType = (type: string) => blocks.filter((block) => block.type === type)
  const variables = ofType("variable").map(readVariable)
  const outputs = ofType("output").map(readOutput)
  const calls = ofType("module").map((block) => readModuleCall(block, path))
  const passed = calls.flatMap(({ call }) =>
    call.providers.map(({ parent }) => ({ reference: parent, location: call.location }))
  )
  const providers = readProviders(blocks, passed)
  const tool = readToolConstraints(blocks)
  const state = stateFindings(blocks)
  for (const part of [...variables, ...outputs, ...calls, providers, state, tool]) findings.push(...part.findings)
  return {
    path,
    variables: variables.map(({ variable }) => variable).sort(byName),
    outputs: outputs.map(({ output }) => output).sort(byName),
    providers: providers.providers,
    calls: calls.map(({ call }) => call).sort(byName),
    addresses: readAddresses(blocks),
    requiredVersion: tool.requiredVersion,
    toolConstraints: tool.constraints,
    findings,
    rootFindings: [
      ...fileRootFindings,
      ...state.rootFindings,
      ...outputs.flatMap(({ output }) => ephemeralAtRoot(output))
    ]
  }
}
