import { Schema, SchemaTransformation } from "effect"

/** The registries that a provider comes from when its address names none; each tool has its own, of the same providers. */
export const defaultRegistryHosts = ["registry.opentofu.org", "registry.terraform.io"] as const

/** The one spelling of a provider's address: in lower case, and without the host of a default registry. */
export const normalProviderAddress = (address: string): string => {
  const lower = address.toLowerCase()
  const host = defaultRegistryHosts.find((name) => lower.startsWith(`${name}/`))
  return host === undefined ? lower : lower.slice(host.length + 1)
}

/** An address as a person or a script writes it, in any of its spellings. */
export const GivenProviderAddress = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(512)).pipe(
  Schema.decodeTo(
    Schema.String,
    SchemaTransformation.transform<string, string>({ decode: normalProviderAddress, encode: (address) => address })
  )
)
