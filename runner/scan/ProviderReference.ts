import type { ConfigValue } from "./ConfigValue.ts"
import { isIdentifier } from "./Identifier.ts"

/** A provider configuration as a module names it: `aws` or `aws.east`. */
export interface ProviderReference {
  readonly localName: string
  readonly alias?: string
}

/** Reads a reference, in quotes or not. What follows in brackets selects an instance of the configuration and does not matter here. */
export const parseProviderReference = (value: ConfigValue): ProviderReference | undefined => {
  const text = value.kind === "string" ? value.value : value.kind === "expression" ? value.text : ""
  const bracket = text.indexOf("[")
  const plain = (bracket === -1 ? text : text.slice(0, bracket)).trim()
  const [localName, alias, ...rest] = plain.split(".").map((name) => name.trim())
  if (localName === undefined || rest.length > 0 || !isIdentifier(localName)) return undefined
  if (alias === undefined) return { localName }
  return isIdentifier(alias) ? { localName, alias } : undefined
}
