import type { Finding } from "../../schema/records/CompatibilityReport.ts"
import type { PlacedAttribute, PlacedBlock } from "./BlockMerge.ts"
import { locate, quoted, refusal } from "./ScanProblem.ts"

/** Reads the literal arguments of one block, and collects their problems. */
export class DeclarationArguments {
  readonly findings: Array<Finding> = []
  readonly #block: PlacedBlock

  constructor(block: PlacedBlock) {
    this.#block = block
  }

  refuse(code: string, message: string, at: PlacedBlock | PlacedAttribute = this.#block) {
    this.findings.push(locate(refusal(code, message, at.location.line), at.location.path))
  }

  get(name: string): PlacedAttribute | undefined {
    return this.#block.attributes.get(name)
  }

  /** Anything but `true` or `false` is treated as `cautious` and is an error. */
  boolean(name: string, absent: boolean, cautious: boolean): boolean {
    const attribute = this.get(name)
    if (attribute === undefined) return absent
    if (attribute.value.kind === "boolean") return attribute.value.value
    this.refuse("not_literal_boolean", `${quoted(name)} must be written as true or false.`, attribute)
    return cautious
  }

  text(name: string): string | undefined {
    const attribute = this.get(name)
    if (attribute === undefined || attribute.value.kind === "null") return undefined
    if (attribute.value.kind === "string") return attribute.value.value
    this.refuse("not_literal_text", `${quoted(name)} must be plain text, without anything to evaluate.`, attribute)
    return undefined
  }
}
