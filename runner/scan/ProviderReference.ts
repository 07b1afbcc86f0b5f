import type { ConfigSyntax, ConfigValue } from "./ConfigValue.ts"
import { isIdentifier } from "./Identifier.ts"

/** A reference to a provider configuration: `aws` or `aws.east`. */
export interface ProviderReference {
  readonly localName: string
  readonly alias?: string
}

const textOf = (value: ConfigValue, syntax: ConfigSyntax): string => {
  if (value.kind === "string") return value.value
  if (value.kind === "expression") return value.text
  // Treat `null` as a name: there is a provider called `null`, and its name looks like the literal if it is written without
  // quotes.
  return value.kind === "null" && syntax === "hcl" ? "null" : ""
}

/** Parses a reference, with or without quotes. Ignores an index in brackets, which selects an instance of the configuration. */
export const parseProviderReference = (value: ConfigValue, syntax: ConfigSyntax): ProviderReference | undefined => {
  const text = textOf(value, syntax)
  const bracket = text.indexOf("[")
  const plain = (bracket === -1 ? text : text.slice(0, bracket)).trim()
  const [localName, alias, ...rest] = plain.split(".").map((name) => name.trim())
  if (localName === undefined || rest.length > 0 || !isIdentifier(localName)) return undefined
  if (alias === undefined) return { localName }
  return isIdentifier(alias) ? { localName, alias } : undefined
}
