import { Result } from "effect"
import type { Finding } from "../../schema/records/CompatibilityReport.ts"
import type { PlacedAttribute, PlacedBlock } from "./BlockMerge.ts"
import type { ConfigValue } from "./ConfigValue.ts"
import type { ToolConstraint } from "./ScannedModule.ts"
import { locate, quoted, refusal } from "./ScanProblem.ts"
import { parseVersionConstraint, prereleaseIn } from "./VersionConstraint.ts"

/**
 * Features that only some versions of a tool read, and the first version; `null` for a tool that does not read the feature at
 * all.
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

/** The only edition of the language. */
const knownEdition = "tofu2024"

/** The requirements of one folder's blocks for the tool. */
export interface ModuleToolConstraints {
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

  /** No tool accepts a prerelease of a tool in a constraint: a prerelease counts as the version that it precedes. */
  #withoutPrerelease(name: string, attribute: PlacedAttribute): ReadonlyArray<string> | undefined {
    const constraints = this.#constraint(name, attribute)
    const named = prereleaseIn(constraints ?? [])
    if (named === undefined) return constraints
    this.#refuse(
      "prerelease_constraint",
      `${name} names a prerelease (${named}), which no tool supports here. Remove the suffix: a prerelease of a tool counts as the version that it precedes.`,
      attribute.location
    )
    return undefined
  }

  #feature(key: string, constraint: ToolConstraint) {
    if (this.#features.has(key)) return
    this.#features.add(key)
    this.constraints.push(constraint)
  }

  /** Records `for_each` of a provider, and references to one instance of it. */
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

/** Reads the requirements of one folder's blocks for the tool that runs them. */
export const readToolConstraints = (blocks: ReadonlyArray<PlacedBlock>): ModuleToolConstraints => {
  const reader = new ConstraintReader()
  for (const block of blocks) reader.read(block)
  return reader
}
