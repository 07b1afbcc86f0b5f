import { Result } from "effect"
import type { Finding } from "../../schema/records/CompatibilityReport.ts"
import type { PlacedAttribute, PlacedBlock } from "./BlockMerge.ts"
import type { ToolConstraint } from "./ScannedModule.ts"
import { locate, quoted, refusal } from "./ScanProblem.ts"
import { parseVersionConstraint } from "./VersionConstraint.ts"

/** What only some versions of a tool read, and the first version that does; `null` for a tool that does not read it at all. */
const newerBlocks: ReadonlyMap<string, Pick<ToolConstraint, "opentofu" | "terraform">> = new Map([
  ["language", { opentofu: [">= 1.12"], terraform: null }],
  ["action", { opentofu: null, terraform: [">= 1.14"] }],
  ["ephemeral", { opentofu: [">= 1.11"], terraform: [">= 1.10"] }]
])

/** The only edition of the language. */
const knownEdition = "tofu2024"

/** What the blocks of one folder require of the tool. */
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
    if (since !== undefined && !this.#features.has(type)) {
      this.#features.add(type)
      this.constraints.push({ what: `The block ${quoted(type)}`, ...since, location })
    }
    const required = type === "terraform" ? attributes.get("required_version") : undefined
    if (required !== undefined) {
      const versions = this.#constraint("required_version", required)
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
      const versions = this.#constraint("compatible_with", compatible)
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

/** Reads what the blocks of one folder require of the tool that runs them. */
export const readToolConstraints = (blocks: ReadonlyArray<PlacedBlock>): ModuleToolConstraints => {
  const reader = new ConstraintReader()
  for (const block of blocks) reader.read(block)
  return reader
}
