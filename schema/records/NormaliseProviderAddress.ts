/** The registries used when a provider's address does not name one: each tool has its own registry, with the same providers. */
export const defaultRegistryHosts = ["registry.opentofu.org", "registry.terraform.io"] as const

/** The one spelling of a provider's address: lower case, without the host of a default registry. */
export const normaliseProviderAddress = (address: string): string => {
  const lower = address.toLowerCase()
  const host = defaultRegistryHosts.find((name) => lower.startsWith(`${name}/`))
  return host === undefined ? lower : lower.slice(host.length + 1)
}
