import type { ConfigSyntax, ConfigValue } from "./ConfigValue.ts"
import { isIdentifier } from "./Identifier.ts"

/** A provider configuration as a module refers to it: `aws` or `aws.east`. */
export interface ProviderReference {
  readonly localName: string
  readonly alias?: string
}

const textOf = (value: ConfigValue, syntax: ConfigSyntax): string => {
  if (value.kind === "string") return value.value
  if (value.kind === "expression") return value.text
  // There is a provider called `null`: without quotes its name looks like the literal.
  return value.kind === "null" && syntax === "hcl" ? "null" : ""
}

/**
 * Reads a reference, quoted or not. What follows in brackets selects an instance of the configuration and does not matter here.
 */
export const parseProviderReference = (value: ConfigValue, syntax: ConfigSyntax): ProviderReference | undefined => {
  const text = textOf(value, syntax)
  const bracket = text.indexOf("[")
  const plain = (bracket === -1 ? text : text.slice(0, bracket)).trim()
  const [localName, alias, ...rest] = plain.split(".").map((name) => name.trim())
  if (localName === undefined || rest.length > 0 || !isIdentifier(localName)) return undefined
  if (alias === undefined) return { localName }
  return isIdentifier(alias) ? { localName, alias } : undefined
}
