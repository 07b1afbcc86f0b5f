import type { Finding } from "../../schema/records/CompatibilityReport.ts"
import type { PlacedAttribute, PlacedBlock } from "./BlockMerge.ts"
import { locate, quoted, refusal } from "./ScanProblem.ts"

/** The strings that the tools convert to booleans. */
const strings: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false]
])

/** Reads the literal arguments of a block, and collects their problems. */
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

  /**
   * Reads a boolean. Converts some strings to booleans, as the tools do. Reports a value that needs evaluation as an error,
   * and returns `cautious` instead.
   */
  boolean(name: string, absent: boolean, cautious: boolean): boolean {
    const attribute = this.get(name)
    if (attribute === undefined) return absent
    const { value } = attribute
    if (value.kind === "boolean") return value.value
    const written = value.kind === "string" ? strings.get(value.value) : undefined
    const inParentheses =
      value.kind === "expression" ? /^\(\s*(true|false)\s*\)$/.exec(value.text.trim())?.[1] : undefined
    const literal = written ?? (inParentheses === undefined ? undefined : inParentheses === "true")
    if (literal !== undefined) return literal
    this.refuse("not_literal_boolean", `${quoted(name)} must be written as true or false.`, attribute)
    return cautious
  }

  text(name: string): string | undefined {
    const attribute = this.get(name)
    if (attribute === undefined) return undefined
    const { value } = attribute
    switch (value.kind) {
      case "string":
        return value.value
      case "number":
        return value.text
      case "boolean":
        return String(value.value)
      case "expression":
        if (value.plain !== undefined) return value.plain
    }
    this.refuse("not_literal_text", `${quoted(name)} must be plain text, without anything to evaluate.`, attribute)
    return undefined
  }
}
