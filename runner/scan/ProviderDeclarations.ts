import { Result } from "effect"
import type { Finding } from "../../schema/records/CompatibilityReport.ts"
import type { PlacedAttribute, PlacedBlock } from "./BlockMerge.ts"
import type { ConfigSyntax, ConfigValue } from "./ConfigValue.ts"
import { isIdentifier } from "./Identifier.ts"
import { parseProviderReference, type ProviderReference } from "./ProviderReference.ts"
import { impliedProviderSource, type ProviderSource, parseProviderSource } from "./ProviderSource.ts"
import type { SourceLocation } from "./ScannedModule.ts"
import { locate, quoted, refusal } from "./ScanProblem.ts"
import { parseProviderConstraint } from "./VersionConstraint.ts"

export interface DeclaredProvider {
  readonly source: ProviderSource
  readonly constraints: ReadonlyArray<string>
}

/**
 * Providers of a module.
 * - `names`: all local names that the module requires, configures or uses
 * - `aliases`: additional configurations that the module defines or expects from its caller
 * - `configured`: local names whose default configuration the module defines
 */
export interface ModuleProviders {
  readonly names: ReadonlyMap<string, DeclaredProvider>
  readonly aliases: ReadonlyArray<Required<ProviderReference>>
  readonly configured: ReadonlySet<string>
}

interface MutableProvider {
  readonly source: ProviderSource
  readonly constraints: Array<string>
}

const requirementKeys: ReadonlySet<string> = new Set(["source", "version", "configuration_aliases"])

/** Arguments of a provider block that no tool accepts. */
const reservedArguments = ["count", "depends_on", "source"]

const nothing: ConfigValue = { kind: "null" }

class ProviderReader {
  readonly names = new Map<string, MutableProvider>()
  readonly aliases = new Map<string, Required<ProviderReference>>()
  readonly configured = new Set<string>()
  readonly findings: Array<Finding> = []

  #refuse(code: string, message: string, { path, line }: SourceLocation) {
    this.findings.push(locate(refusal(code, message, line), path))
  }

  #declare(
    localName: string,
    source: Result.Result<ProviderSource, string>,
    location: SourceLocation
  ): MutableProvider | undefined {
    const existing = this.names.get(localName)
    if (existing !== undefined) return existing
    if (Result.isFailure(source)) {
      this.#refuse(
        "invalid_provider",
        `The provider ${quoted(localName)} has no usable address: ${source.failure}.`,
        location
      )
      return undefined
    }
    if (localName !== localName.toLowerCase() || localName.includes("_")) {
      this.#refuse(
        "invalid_provider",
        `The provider name ${quoted(localName)} must be of lower case letters, digits and dashes.`,
        location
      )
      return undefined
    }
    const provider = { source: source.success, constraints: [] }
    this.names.set(localName, provider)
    return provider
  }

  #constrain(provider: MutableProvider | undefined, value: ConfigValue, location: SourceLocation) {
    if (value.kind === "null") return
    if (value.kind !== "string") {
      this.#refuse("invalid_version_constraint", "A version constraint must be plain text.", location)
      return
    }
    const constraints = parseProviderConstraint(value.value)
    if (Result.isSuccess(constraints)) provider?.constraints.push(...constraints.success)
    else
      this.#refuse(
        "invalid_version_constraint",
        `The version constraint cannot be read: ${constraints.failure}.`,
        location
      )
  }

  require(localName: string, { value, syntax, location }: PlacedAttribute) {
    if (value.kind === "string") {
      this.#constrain(this.#declare(localName, impliedProviderSource(localName), location), value, location)
      return
    }
    if (value.kind !== "object" || [...value.entries.keys()].some((key) => !requirementKeys.has(key))) {
      this.#refuse(
        "invalid_provider",
        `The requirement ${quoted(localName)} must be an object of source, version and configuration_aliases, written as literals.`,
        location
      )
      return
    }
    const source = value.entries.get("source")
    if (source !== undefined && source.kind !== "string") {
      this.#refuse("invalid_provider", `The source of the provider ${quoted(localName)} must be plain text.`, location)
      return
    }
    for (const name of ["version", "configuration_aliases"]) {
      if (value.entries.get(name)?.kind !== "null") continue
      this.#refuse(
        "invalid_provider",
        `The ${name} of the provider ${quoted(localName)} is null. Leave it out.`,
        location
      )
      return
    }
    const address = source === undefined ? impliedProviderSource(localName) : parseProviderSource(source.value)
    this.#constrain(this.#declare(localName, address, location), value.entries.get("version") ?? nothing, location)
    this.#expectAliases(localName, value.entries.get("configuration_aliases") ?? nothing, syntax, location)
  }

  #expectAliases(localName: string, value: ConfigValue, syntax: ConfigSyntax, location: SourceLocation) {
    if (value.kind === "null") return
    for (const item of value.kind === "array" ? value.items : [nothing]) {
      const isQuoted = syntax === "hcl" && item.kind === "string"
      const reference = isQuoted ? undefined : parseProviderReference(item, syntax)
      if (reference?.alias === undefined || reference.localName !== localName) {
        this.#refuse(
          "invalid_provider",
          `The configuration_aliases of the provider ${quoted(localName)} must be a list of names such as ${localName}.other.`,
          location
        )
      } else this.#addAlias(localName, reference.alias)
    }
  }

  #addAlias(localName: string, alias: string) {
    this.aliases.set(`${localName}.${alias}`, { localName, alias })
  }

  configure(block: PlacedBlock) {
    const localName = block.labels[0] ?? ""
    const provider = this.#declare(localName, impliedProviderSource(localName), block.location)
    for (const name of reservedArguments) {
      const reserved = block.attributes.get(name)
      if (reserved === undefined) continue
      this.#refuse(
        "reserved_argument",
        `The tools reserve the argument ${quoted(name)} of a provider. Remove it.`,
        reserved.location
      )
    }
    const forEach = block.attributes.get("for_each")
    if (forEach !== undefined && !block.attributes.has("alias")) {
      this.#refuse("invalid_provider", "A provider with for_each needs an alias.", forEach.location)
    }
    const version = block.attributes.get("version")
    if (version !== undefined) this.#constrain(provider, version.value, version.location)
    const alias = block.attributes.get("alias")
    if (alias === undefined) {
      this.configured.add(localName)
      return
    }
    if (alias.value.kind === "string" && isIdentifier(alias.value.value)) this.#addAlias(localName, alias.value.value)
    else this.#refuse("invalid_provider", "The alias of a provider must be a plain name.", alias.location)
  }

  use(localName: string, location: SourceLocation) {
    this.#declare(localName, impliedProviderSource(localName), location)
  }

  useResource(block: PlacedBlock) {
    const attribute = block.attributes.get("provider")
    if (attribute !== undefined) {
      const reference = parseProviderReference(attribute.value, attribute.syntax)
      if (reference === undefined) {
        this.#refuse(
          "invalid_provider",
          "The provider must name a configuration, such as aws or aws.east.",
          attribute.location
        )
      } else this.use(reference.localName, attribute.location)
      return
    }
    const resourceType = block.labels[0] ?? resourceTypeOf(block.attributes.get("to")?.value)
    if (resourceType !== undefined) this.use(resourceType.split("_", 1)[0] ?? "", block.location)
  }
}

/**
 * Returns the type of the resource that an `import` block imports into the root module. Ignores resources in child modules,
 * because the child modules declare those resources.
 */
const resourceTypeOf = (to: ConfigValue | undefined): string | undefined => {
  const text = to?.kind === "string" ? to.value : to?.kind === "expression" ? to.text : ""
  const first = text.trim().split(/[.[]/, 1)[0] ?? ""
  return first === "" || first === "module" ? undefined : first
}

const resourceTypes: ReadonlySet<string> = new Set(["resource", "data", "ephemeral", "action", "import"])

/** Collects the providers of a module. `passed` contains the configurations that its module calls pass on. */
export const readProviders = (
  blocks: ReadonlyArray<PlacedBlock>,
  passed: ReadonlyArray<{ readonly reference: ProviderReference; readonly location: SourceLocation }>
): { readonly providers: ModuleProviders; readonly findings: ReadonlyArray<Finding> } => {
  const reader = new ProviderReader()
  // Read the requirements first, because they define the local names that all other blocks use.
  for (const { type, attributes } of blocks) {
    if (type === "required_providers") for (const [name, attribute] of attributes) reader.require(name, attribute)
  }
  for (const block of blocks) {
    if (block.type === "provider") reader.configure(block)
    else if (resourceTypes.has(block.type)) reader.useResource(block)
  }
  for (const { reference, location } of passed) reader.use(reference.localName, location)
  const { names, configured, findings } = reader
  return { providers: { names, aliases: [...reader.aliases.values()], configured }, findings }
}
