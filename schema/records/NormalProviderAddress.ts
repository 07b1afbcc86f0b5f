/** The registries that a provider comes from when its address names none; each tool has its own, of the same providers. */
export const defaultRegistryHosts = ["registry.opentofu.org", "registry.terraform.io"] as const

/** The one spelling of a provider's address: in lower case, and without the host of a default registry. */
export const normalProviderAddress = (address: string): string => {
  const lower = address.toLowerCase()
  const host = defaultRegistryHosts.find((name) => lower.startsWith(`${name}/`))
  return host === undefined ? lower : lower.slice(host.length + 1)
}
