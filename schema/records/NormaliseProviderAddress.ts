/** The registries of provider addresses without a registry: each tool has its default registry, with the same providers. */
export const defaultRegistryHosts = ["registry.opentofu.org", "registry.terraform.io"] as const

/** The only stored spelling of a provider's address: lower case, without the host of a default registry. */
export const normaliseProviderAddress = (address: string): string => {
  const lower = address.toLowerCase()
  const host = defaultRegistryHosts.find((name) => lower.startsWith(`${name}/`))
  return host === undefined ? lower : lower.slice(host.length + 1)
}
